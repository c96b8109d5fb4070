"""Ids of prompts: whether another column of the table tells more prompts apart."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pcorrect.errors import DataError
from pcorrect.readers.names import snake

if TYPE_CHECKING:
    from pcorrect.readers.tables import Table


def refuse_reused(table: Table) -> None:
    """Refuse ids that begin anew in each group where it is not clear which column that is.

    Raises
    ------
    DataError
        Two prompts may have one name.
    """
    for position in table.layout.groups:
        found = table.con.execute(
            f"SELECT p FROM (SELECT {table.text('benchmark')} AS b, {table.prompt} AS p, "
            f"nullif({table.cell(position)}, '') AS g {table.rows}) "
            "GROUP BY b, p HAVING count(DISTINCT g) > 1 LIMIT 1"
        ).fetchall()
        if found:
            name = table.raw.names[position]
            raise DataError(
                f"{table.raw.source.name}: prompt {found[0][0]!r} occurs with several values of "
                f"{name!r}: if these are different prompts, choose by a column map, such as "
                f"group={name}; if not, group= (None in Python)"
            )


def note_better(table: Table) -> None:
    """Note a column of ids that tells more prompts apart than the one that was taken."""
    names, at = table.raw.names, table.at
    position = [i for i, name in enumerate(names) if snake(name) == "id"]
    chosen = "prompt" in table.options.columns or set(position) & set(at.values())
    if "prompt" not in at or len(position) != 1 or chosen:
        return
    rows, llms_ids, ids, pairs, prompts = table.con.execute(
        f"SELECT count(*), count(DISTINCT hash({table.text('llm')}, i)), count(DISTINCT i), "
        f"count(DISTINCT hash(i, p)), count(DISTINCT p) FROM (SELECT *, "
        f"{table.cell(position[0])} AS i, {table.prompt} AS p {table.rows})"
    ).fetchall()[0]
    # numbers of rows are no ids of prompts
    if prompts < pairs == ids and llms_ids < rows:
        name = names[position[0]]
        table.notes.append(
            f"column {name!r} tells {ids} prompts apart, {names[at['prompt']]!r} only {prompts}: "
            f"if they are different prompts, choose prompt={name}"
        )
