"""Results on disk: netCDF or zarr, written whole or not at all."""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from pcorrect.errors import DataError, PcorrectError

if TYPE_CHECKING:
    import xarray as xr

# What marks a folder as a zarr store, of format 3 or 2.
_STORE = ("zarr.json", ".zgroup")


def save(tree: xr.DataTree, path: str | Path) -> None:
    """Write a result to a file: netCDF, or zarr where the name ends in ``.zarr``.

    The file appears whole or not at all, and one of that name is there until then.

    Raises
    ------
    PcorrectError
        It cannot be written, or the name is taken by something that is no result.
    """
    path = Path(path)
    check_target(path)
    try:
        folder = Path(tempfile.mkdtemp(prefix=f".{path.name}.", dir=path.parent))
    except OSError as error:
        raise PcorrectError(f"cannot write {path}: {error.strerror}") from error
    try:
        part = folder / path.name
        if path.suffix == ".zarr":
            tree.to_zarr(part, mode="w", consolidated=False)
        else:
            encoding = {
                f"/{name}": {str(v): {"zlib": True, "complevel": 1} for v in node.data_vars}
                for name, node in tree.children.items()
                if name in ("posterior", "posterior_predictive", "log_likelihood")
            }
            tree.to_netcdf(part, engine="h5netcdf", encoding=encoding)
        _replace(part, path, folder / "old")
    except OSError as error:
        raise PcorrectError(f"cannot write {path}: {error}") from error
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def check_target(path: str | Path) -> None:
    """Raise an error where a result would take the place of what is none.

    Raises
    ------
    PcorrectError
        There is a folder of that name, and no zarr store; or a file where a store is to be.
    """
    path = Path(path)
    zarr = path.suffix == ".zarr"
    if zarr and path.exists() and not any((path / name).is_file() for name in _STORE):
        raise PcorrectError(
            f"cannot write {path}: it exists and is not a zarr store; choose another name or "
            "move it away"
        )
    if not zarr and path.is_dir():
        raise PcorrectError(f"cannot write {path}: it is a directory; name the file to write")


def _replace(part: Path, path: Path, old: Path) -> None:
    """Put a file or store in its place; the one that is there is moved to `old` if it has to be."""
    # A file takes the place of a file in one step, a folder only that of an empty folder.
    if not (part.is_dir() and path.exists()):
        os.replace(part, path)
        return
    os.replace(path, old)
    try:
        os.replace(part, path)
    except BaseException:
        os.replace(old, path)
        raise


def load(path: str | Path) -> xr.DataTree:
    """Read a result that `save` wrote.

    Raises
    ------
    DataError
        The file is missing, or no result of this package.
    """
    import xarray as xr

    path = Path(path)
    if not path.exists():
        raise DataError(f"no file {path}")
    try:
        if path.suffix == ".zarr":
            tree = xr.open_datatree(path, engine="zarr", consolidated=False)
        else:
            tree = xr.open_datatree(path, engine="h5netcdf")
        with tree:
            loaded = tree.load()
    except (OSError, ValueError, KeyError) as error:
        raise DataError(
            f"{path}: not a netCDF or zarr file written by pcorrect ({error})"
        ) from error
    if loaded.attrs.get("inference_library") != "pcorrect" or "posterior" not in loaded.children:
        raise DataError(f"{path}: a netCDF file, but not a result of pcorrect")
    return loaded
