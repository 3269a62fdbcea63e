"""All questions of studies, by name."""

from __future__ import annotations

from collections.abc import Mapping

from calibstat.study.coverage_questions import Comparison, Coverage
from calibstat.study.estimate_questions import Bias, Consistency, Ranking
from calibstat.study.question import Question
from calibstat.study.rejection_questions import Power, Size

QUESTIONS: Mapping[str, type[Question]] = {
    question.name: question for question in (Size, Power, Coverage, Comparison, Bias, Consistency, Ranking)
}
