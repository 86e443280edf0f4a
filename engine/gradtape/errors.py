"""Every error and warning that the engine raises on purpose.

GradtapeError
├── InvalidArgumentError (ValueError)     an argument does not fit; tf.errors.InvalidArgumentError in the facade
│   ├── ShapeError                        shapes do not fit each other
│   └── DTypeError (TypeError)            dtypes do not fit each other
├── TapeStateError (RuntimeError)         a tape is used up, deleted or was never entered
├── RecordingStateError (ValueError)      a tape is already, or not, recording
├── AssignmentError (RuntimeError)        a variable was changed by `+=` instead of assign_add
├── WatchError (ValueError)               something that cannot be watched
├── SourceError (TypeError)               targets or sources that are no tensors
├── CustomGradientError (ValueError)      a custom gradient function returned the wrong thing
├── CustomGradientTypeError (TypeError)   a custom gradient function has the wrong signature
├── MissingGradientError (LookupError)    an op without a derivative lies on the path
└── NondifferentiableError (AssertionError)   check_gradients: a kink, or gradients that disagree
GradtapeWarning (UserWarning)
"""

from __future__ import annotations

import sys
import warnings

__gradtape__ = True


class GradtapeError(Exception):
    """Base class of the errors of this package."""


class InvalidArgumentError(GradtapeError, ValueError):
    """An argument of an op does not fit."""


class ShapeError(InvalidArgumentError):
    """Shapes do not fit each other."""


class DTypeError(InvalidArgumentError, TypeError):
    """Dtypes do not fit each other."""


class TapeStateError(GradtapeError, RuntimeError):
    """A tape is used up, deleted, or was never entered."""


class RecordingStateError(GradtapeError, ValueError):
    """A tape is recording although it should not, or the other way round."""


class AssignmentError(GradtapeError, RuntimeError):
    """A variable can only be changed by assign, assign_add and assign_sub."""


class WatchError(GradtapeError, ValueError):
    """Something that is no tensor cannot be watched."""


class SourceError(GradtapeError, TypeError):
    """Targets or sources of gradient() that are no tensors."""


class CustomGradientError(GradtapeError, ValueError):
    """A custom gradient function returned the wrong number of gradients or the wrong shape."""


class CustomGradientTypeError(GradtapeError, TypeError):
    """A custom gradient function has the wrong signature."""


class MissingGradientError(GradtapeError, LookupError):
    """An op on the path has no derivative."""


class NondifferentiableError(GradtapeError, AssertionError):
    """check_gradients found gradients that disagree, or a kink at the point."""


class GradtapeWarning(UserWarning):
    """Something that is allowed but probably not meant."""


def warn(message: str) -> None:
    """Warn at the line of the script that called the engine."""
    frame, level = sys._getframe(1), 2
    while "__gradtape__" in frame.f_globals and frame.f_back is not None:
        frame, level = frame.f_back, level + 1
    warnings.warn(message, GradtapeWarning, stacklevel=level)
