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


def save(tree: xr.DataTree, path: str | Path) -> None:
    """Write a result to a file: netCDF, or zarr where the name ends in ``.zarr``.

    The file appears whole or not at all.

    Raises
    ------
    PcorrectError
        It cannot be written.
    """
    path = Path(path)
    try:
        folder = Path(tempfile.mkdtemp(prefix=f".{path.name}.", dir=path.parent))
    except OSError as error:
        raise PcorrectError(f"cannot write {path}: {error.strerror}") from error
    try:
        part = folder / path.name
        if path.suffix == ".zarr":
            tree.to_zarr(part, mode="w", consolidated=False)
            if path.exists():
                shutil.rmtree(path)
        else:
            encoding = {
                f"/{name}": {str(v): {"zlib": True, "complevel": 1} for v in node.data_vars}
                for name, node in tree.children.items()
                if name in ("posterior", "posterior_predictive", "log_likelihood")
            }
            tree.to_netcdf(part, engine="h5netcdf", encoding=encoding)
        os.replace(part, path)
    except OSError as error:
        raise PcorrectError(f"cannot write {path}: {error}") from error
    finally:
        shutil.rmtree(folder, ignore_errors=True)


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
