/** Texts by their path below the repository's root. */
export type Texts = ReadonlyMap<string, string>

/** A document's path, then the cited decisions or the cited section: `docs/decisions.md, D4, D13`. */
/** A URL cites no document of this repository. */
const CITATION =
  /(?<![\w./:-])(?<path>[\w./-]*\w\.md)\b(?<decisions>(?:, D\d+)*)(?:, "(?<section>[^"\n]+)")?/g
/** Joins the lines of a comment. */
const LINE_BREAK = /\n[ \t]*(?:\*|\/\/|#)?[ \t]*/g
const BARE_DECISION = /\bD\d{1,2}\b/g
const UNNAMED_SECTION = /\bspecification,? section \d+(\.\d+)*/gi
/** Path of the installed repository in the systemd unit: a URL without its protocol. */
const INSTALLED_AT = '///opt/quote-aggregator/'

/**
 * Finds citations without their document, and of documents, decisions or sections that do not exist.
 * @param sources the texts with citations
 * @param documents the documents that they may cite
 * @returns one line for each
 */
export function findDanglingCitations(sources: Texts, documents: Texts): string[] {
  return [...sources].flatMap(([source, text]) => {
    const joined = text.replace(LINE_BREAK, ' ')
    const bare = joined.replace(CITATION, '')
    const problems = [
      ...[...joined.matchAll(CITATION)].flatMap(({ groups = {} }) => findProblems(groups, documents)),
      ...(bare.match(BARE_DECISION) ?? []).map((decision) => `${decision} without its document`),
      ...(bare.match(UNNAMED_SECTION) ?? []).map((section) => `${section} without its document`),
    ]
    return problems.map((problem) => `${source}: ${problem}`)
  })
}

function findProblems(
  { path = '', decisions = '', section }: Readonly<Record<string, string>>,
  documents: Texts,
): string[] {
  const file = path.startsWith(INSTALLED_AT) ? path.slice(INSTALLED_AT.length) : path
  const document = documents.get(file)
  if (document === undefined) return [`${path} does not exist`]
  const headings = [...document.matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) => heading)
  const lacksDecision = (decision: string) => !headings.some((heading) => heading.startsWith(`${decision} `))
  return [
    ...(decisions.match(BARE_DECISION) ?? [])
      .filter(lacksDecision)
      .map((decision) => `${path} has no ${decision}`),
    ...(section === undefined || headings.includes(section) ? [] : [`${path} has no section "${section}"`]),
  ]
}
