"""All that the kernels' compiler uses of numba and llvmlite; no other module imports numba.

Most names are public: numba documents `numba.extending` and `numba.types` for packages like this one. Without a
name of the first block no kernel can be compiled, and a line says so. Without an inner name of the second block,
numba itself has to load the kernels (`loading.py`).
"""

from __future__ import annotations

import os
from contextlib import chdir, nullcontext

from nonobot.bot.kernels.compiler import numba_fits

_SETTINGS = ".numba_config.yaml"  # numba's own, in the working folder

with numba_fits():
    # That folder is perhaps a stranger's: the file would decide how kept code is compiled, or stop the import.
    with chdir(os.sep) if os.path.lexists(_SETTINGS) else nullcontext():
        from numba import config
    if config._config_fname != os.devnull:  # numba looks for it again whenever it compiles
        config._config_fname = os.devnull
        config.reload_config()

    import llvmlite.binding as llvm
    from llvmlite import ir
    from numba import TypingError, njit, types
    from numba.core.typing.templates import AttributeTemplate
    from numba.extending import (
        NativeValue,
        infer_getattr,
        intrinsic,
        lower_builtin,
        lower_cast,
        lower_getattr_generic,
        lower_setattr_generic,
        models,
        register_model,
        type_callable,
        typeof_impl,
        unbox,
    )

moved: Exception | None = None  # why a name of this block is missing

try:
    from numba.core import event
    from numba.core.codegen import JITCodeLibrary
    from numba.core.compiler_lock import global_compiler_lock
    from numba.core.cpu import CPUContext
except Exception as error:
    moved = error

__all__ = [
    "AttributeTemplate",
    "CPUContext",
    "JITCodeLibrary",
    "NativeValue",
    "TypingError",
    "config",
    "event",
    "global_compiler_lock",
    "infer_getattr",
    "intrinsic",
    "ir",
    "llvm",
    "lower_builtin",
    "lower_cast",
    "lower_getattr_generic",
    "lower_setattr_generic",
    "models",
    "moved",
    "njit",
    "register_model",
    "type_callable",
    "typeof_impl",
    "types",
    "unbox",
]
