/**
 * Has judges that nobody here wrote look at this server, and prints a table of what they say. What a machine lacks is skipped.
 *
 *   npm run conformance -- <folder>            all; the folder has the test data of the Connect project, or CONFORMANCE_DATA names it
 *   npm run conformance -- <folder> --only connect
 *
 *   --only    connect (cases of the Connect project), prism (exchanges of the tests, by OpenAPI) or programs (proxies, clients, lint)
 */
import { parseArgs } from 'node:util'
import { readExceptions } from './connect/exceptions.js'
import { type CaseResult, runConformance } from './connect/run.js'
import { CODECS, PROTOCOLS } from './connect/schema.js'
import { readSuites } from './connect/suites.js'
import { judgeByPrism } from './prism/run.js'
import { type JudgedCase, tableOf, type Verdict } from './table.js'
import { runTests, toJudgedCase } from './tests.js'

/** Tests in which other programs use the service, or stand in front of it. */
const PROGRAMS = [
  '--project=service',
  '--project=slow',
  'test/conformance/documents',
  'test/service/client/client-go',
  'test/service/client/client-python',
  'test/service/operation/pgbouncer',
  'test/service/operation/proxies',
  'test/service/protocols/grpc-reflection',
  'test/service/protocols/standard-clients',
]

/** As many as the test data of the Connect project has for servers; another version may have more. */
const EXPECTED_CASES = 3_320

/** What a judge has found, and a sentence for each thing that is not as it should be. */
interface Judgement {
  readonly cases: readonly JudgedCase[]
  readonly surprises: readonly string[]
}

const { values, positionals } = parseArgs({ options: { only: { type: 'string' } }, allowPositionals: true })
const JUDGES: Readonly<Record<string, () => Promise<Judgement>>> = {
  connect: () => judgeByConnect(positionals[0] ?? process.env.CONFORMANCE_DATA ?? ''),
  prism: async () => withFailures(await judgeByPrism()),
  programs: async () => withFailures(runTests(PROGRAMS).map(toJudgedCase)),
}

async function judgeByConnect(folder: string): Promise<Judgement> {
  if (folder === '') {
    const reason = 'No folder with the test data of the Connect project is given.'
    return { cases: [{ judge: 'Connect', verdict: { kind: 'not applicable', reason } }], surprises: [] }
  }
  const suites = readSuites(folder)
  const { results, surprises } = await runConformance(suites, readExceptions())
  const cases = results.map(toCase).toSorted((a, b) => a.judge.localeCompare(b.judge))
  if (cases.length === EXPECTED_CASES) return { cases, surprises }
  const surprise = `${folder} has ${cases.length} cases for servers, and not ${EXPECTED_CASES}.`
  return { cases, surprises: [...surprises, surprise] }
}

function toCase({ testCase, outcome }: CaseResult): JudgedCase {
  const { protocol, http, codec, name } = testCase
  return { judge: `Connect: ${PROTOCOLS[protocol]} HTTP/${http} ${CODECS[codec]}`, verdict: verdictOf() }

  function verdictOf(): Verdict {
    if (outcome.kind !== 'failed') return outcome
    return { kind: 'failed', reason: outcome.listed ?? `${name}: ${outcome.differences.join('; ')}` }
  }
}

function withFailures(cases: readonly JudgedCase[]): Judgement {
  const surprises = cases.flatMap(({ judge, verdict }) =>
    verdict.kind === 'failed' ? [`${judge}: ${verdict.reason}`] : [],
  )
  return { cases, surprises }
}

const { only } = values
if (only !== undefined && !Object.hasOwn(JUDGES, only))
  throw new Error(`--only must be one of ${Object.keys(JUDGES).join(', ')}`)
const cases: JudgedCase[] = []
const surprises: string[] = []
for (const [name, judge] of Object.entries(JUDGES)) {
  if (only !== undefined && name !== only) continue
  console.error(`${name} …`)
  const found = await judge()
  cases.push(...found.cases)
  surprises.push(...found.surprises)
}
for (const line of tableOf(cases)) console.log(line)
for (const surprise of surprises) console.error(surprise)
process.exitCode = surprises.length === 0 ? 0 : 1
