"""Whether the kernels are plain Python here, as with NUMBA_DISABLE_JIT=1."""

from __future__ import annotations

import numba

IS_PLAIN = bool(numba.config.DISABLE_JIT)
