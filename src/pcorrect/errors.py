"""The errors that a user's data or choices can cause; the command exits with code 2."""


class PcorrectError(ValueError):
    """A mistake that the user can mend; the message says where, which rule, and what to do."""


class DataError(PcorrectError):
    """A file, row or value breaks a rule."""


class ChoiceError(PcorrectError):
    """The input holds several possibilities (metrics, filters, scorers, llms) and none was chosen.

    Parameters
    ----------
    message : str
        What has to be chosen, and how.
    options : list of str
        The possibilities found, in the order in which they occur.
    """

    def __init__(self, message: str, options: list[str]) -> None:
        super().__init__(message)
        self.options = options
