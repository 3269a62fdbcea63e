/* The order of what the search finds: pages for users first, then the reference, then methods and lists of names. */
const BEHIND = /^(proofs|papers|glossary|squares|omnibus|distances|conformance|speed|honesty|studies|command-line|other-packages|questions)$/;
var Scorer = {
  score: ([page, title, anchor, description, score]) => {
    if (BEHIND.test(page) || /^(behind|studies)\//.test(page)) return score - 20;
    if (/^(reference|results|measures|api)\b/.test(page)) return score - 8;
    return anchor ? score - 4 : score + 3;
  },
  objNameMatch: 11,
  objPartialMatch: 6,
  objPrio: { 0: 15, 1: 5, 2: -5 },
  objPrioDefault: 0,
  title: 15,
  partialTitle: 7,
  term: 5,
  partialTerm: 2,
};
