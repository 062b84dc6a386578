"""Intraclass correlation: which share of the ratings' variance lies between stories.

Shrout and Fleiss (1979), Psychological Bulletin 86; McGraw and Wong (1996), Psychological Methods
1. The first number names the model: 1, every story has raters of its own; 2, the raters are a
sample and their strictness counts as error (absolute agreement); 3, it does not (consistency). The
second says whether one rating is meant or the mean of k.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from fabula.meta.arrays import Values
from fabula.meta.distributions import f_quantile, f_tail
from fabula.meta.raters.ratings import complete_rows


@dataclass(frozen=True)
class Icc:
    """One intraclass correlation with its F test and F interval.

    `k` is the number of ratings that the k stands for; with unlike numbers k0 of the analysis of
    variance, and the interval is then approximate. NaN where undefined; `note` says why.
    """

    kind: str
    value: float = math.nan
    f: float = math.nan
    df1: float = math.nan
    df2: float = math.nan
    p: float = math.nan
    low: float = math.nan
    high: float = math.nan
    stories: int = 0
    left_out: int = 0
    k: float = math.nan
    note: str = ""


def intraclass(matrix: Values, *, alpha: float = 0.05) -> tuple[Icc, ...]:
    """Give all six correlations of a stories × raters matrix: (1,1), (2,1), (3,1), (1,k) … (3,k).

    ICC(1) uses every rating. ICC(2) and ICC(3) use the stories that all raters rated, and say how
    many they leave out.
    """
    single, mean = one_way(matrix, alpha=alpha)
    two, three, two_k, three_k = two_way(matrix, alpha=alpha)
    return single, two, three, mean, two_k, three_k


def one_way(values: Values, *, alpha: float = 0.05) -> tuple[Icc, Icc]:
    """Give ICC(1,1) and ICC(1,k); the columns need not be the same raters, nor equally many.

    With unlike numbers of ratings, k is k0 = (N - sum of squares / N) / (n - 1).
    """
    sizes = (~np.isnan(values)).sum(axis=1)
    values, left_out = values[sizes > 0], int((sizes == 0).sum())
    sizes = sizes[sizes > 0].astype(np.float64)
    n, total = len(values), float(sizes.sum())
    blank = Icc("", stories=n, left_out=left_out)
    if n < 2 or total <= n:
        return _leave_undefined(blank, "ICC(1,1)", "ICC(1,k)", note=_TOO_FEW)
    k = (total - float((sizes**2).sum()) / total) / (n - 1)
    means = np.nansum(values, axis=1) / sizes
    between = float((sizes * (means - np.nansum(values) / total) ** 2).sum()) / (n - 1)
    within = float(np.nansum((values - means[:, None]) ** 2)) / (total - n)
    note = "" if sizes.min() == sizes.max() else f"unlike numbers of ratings; k is {k:.4g}"
    blank = replace(blank, k=k, note=note, df1=n - 1, df2=total - n)
    squares = _drop_rounding(between, values), _drop_rounding(within, values)
    return _of_ratio(blank, *squares, kinds=("ICC(1,1)", "ICC(1,k)"), alpha=alpha)


def two_way(matrix: Values, *, alpha: float = 0.05) -> tuple[Icc, Icc, Icc, Icc]:
    """Give ICC(2,1), ICC(3,1), ICC(2,k) and ICC(3,k) of the stories that all raters rated."""
    values = complete_rows(matrix)
    n, k = values.shape
    blank = Icc("", stories=n, left_out=len(matrix) - n, k=k)
    if n < 2 or k < 2:
        none = "no two stories were rated by all raters" if k > 1 else "needs two raters"
        a, b = _leave_undefined(blank, "ICC(2,1)", "ICC(2,k)", note=none)
        return a, replace(a, kind="ICC(3,1)"), b, replace(b, kind="ICC(3,k)")
    squares = _mean_squares(values)
    blank = replace(blank, df1=n - 1, df2=(n - 1) * (k - 1))
    three, three_k = _of_ratio(
        blank, squares[0], squares[2], kinds=("ICC(3,1)", "ICC(3,k)"), alpha=alpha
    )
    two, two_k = _absolute(three, squares, alpha=alpha)
    return two, three, two_k, three_k


_TOO_FEW = "needs two stories, and two ratings of one of them"
_CONSTANT = "all ratings are the same"


def _leave_undefined(blank: Icc, single: str, mean: str, *, note: str) -> tuple[Icc, Icc]:
    return replace(blank, kind=single, note=note), replace(blank, kind=mean, note=note)


def _mean_squares(values: Values) -> tuple[float, float, float]:
    """Mean squares of stories, raters and what is left (two-way, one rating a cell)."""
    n, k = values.shape
    rows, columns = values.mean(axis=1, keepdims=True), values.mean(axis=0, keepdims=True)
    grand = values.mean()
    left = values - rows - columns + grand
    of_rows = k * float(((rows - grand) ** 2).sum()) / (n - 1)
    of_columns = n * float(((columns - grand) ** 2).sum()) / (k - 1)
    noise = float((left**2).sum()) / ((n - 1) * (k - 1))
    return (
        _drop_rounding(of_rows, values),
        _drop_rounding(of_columns, values),
        _drop_rounding(noise, values),
    )


def _drop_rounding(square: float, values: Values) -> float:
    """Give a mean square, or 0 where it is but squares of rounding errors."""
    return square if square > 1e-24 * float(np.nanmax(values**2)) else 0.0


def _of_ratio(
    blank: Icc, between: float, within: float, *, kinds: tuple[str, str], alpha: float
) -> tuple[Icc, Icc]:
    """Give the two correlations that follow from one F: of one rating, and of the mean of k."""
    if within <= 0:
        if between <= 0:
            return _leave_undefined(blank, *kinds, note=_CONSTANT)
        sure = replace(blank, value=1.0, f=math.inf, p=0.0, low=1.0, high=1.0)
        return replace(sure, kind=kinds[0]), replace(sure, kind=kinds[1])
    df1, df2, k = blank.df1, blank.df2, blank.k
    f = between / within
    low = f / f_quantile(1 - alpha / 2, df1, df2)
    high = f * f_quantile(1 - alpha / 2, df2, df1)
    tested = replace(blank, f=f, p=f_tail(f, df1, df2))
    single, least, most = ((x - 1) / (x + k - 1) for x in (f, low, high))
    mean, mean_least, mean_most = (1 - 1 / x if x > 0 else math.nan for x in (f, low, high))
    return (
        replace(tested, kind=kinds[0], value=single, low=least, high=most),
        replace(tested, kind=kinds[1], value=mean, low=mean_least, high=mean_most),
    )


def _absolute(three: Icc, squares: tuple[float, float, float], *, alpha: float) -> tuple[Icc, Icc]:
    """Give ICC(2,1) and ICC(2,k), with the interval of McGraw and Wong (1996, Table 7)."""
    rows, columns, noise = squares
    n, k = three.stories, three.k
    scale = rows + (k - 1) * noise + k * (columns - noise) / n
    blank = replace(three, value=math.nan, low=math.nan, high=math.nan)
    if scale <= 0:
        return _leave_undefined(blank, "ICC(2,1)", "ICC(2,k)", note=three.note or _CONSTANT)
    value = (rows - noise) / scale
    low, high, note = math.nan, math.nan, three.note
    if noise > 0:
        low, high = _absolute_interval(value, squares, n=n, k=k, alpha=alpha)
    elif columns <= 0:
        low = high = 1.0
    else:
        note = "no interval: nothing is left but stories and raters"
    single = replace(blank, kind="ICC(2,1)", value=value, low=low, high=high, note=note)
    value, low, high = (spearman_brown(end, k) for end in (value, low, high))
    return single, replace(single, kind="ICC(2,k)", value=value, low=low, high=high)


def _absolute_interval(
    value: float, squares: tuple[float, float, float], *, n: int, k: float, alpha: float
) -> tuple[float, float]:
    rows, columns, noise = squares
    ratio = k * value * columns / noise
    rest = n * (1 + (k - 1) * value) - k * value
    df1 = n - 1
    df = (df1 * (k - 1)) * (ratio + rest) ** 2 / (df1 * ratio**2 + rest**2)
    upper, lower = f_quantile(1 - alpha / 2, df1, df), f_quantile(1 - alpha / 2, df, df1)
    spread = k * columns + (k * n - k - n) * noise
    low = n * (rows - upper * noise) / (upper * spread + n * rows)
    high = n * (lower * rows - noise) / (spread + n * lower * rows)
    return low, high


def spearman_brown(single: float, k: float) -> float:
    """Reliability of the mean of k ratings, from that of one (Spearman, 1910; Brown, 1910).

    Undefined (NaN) at -1 / (k - 1) and below, where the mean would have no variance left.
    """
    below = 1 + (k - 1) * single
    return k * single / below if below > 0 else math.nan
