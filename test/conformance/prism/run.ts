import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import type { JudgedCase, Verdict } from '../table.js'
import { runTests, type TestResult } from '../tests.js'
import { type Exchange, isOfService, readExchanges } from './exchange.js'
import { judgeExchanges } from './judge.js'
import { hasPrism } from './prism.js'

const CLIENT = 'Prism: tests of the client'

/** Tests whose exchanges Prism judges, with the arguments of vitest that run them. */
const SETS: Readonly<Record<string, readonly string[]>> = {
  'Prism: service tests': ['--project=service', '--exclude=test/service/client/**'],
  [CLIENT]: [
    '--project=unit',
    '--project=service',
    '--project=slow',
    'packages/client',
    'test/service/client',
  ],
  'Prism: tests of the console': ['--project=slow', 'test/service/console'],
}
const RECORDER = resolve('test/conformance/prism/record-exchanges.mjs')

/** Runs the tests with a recorder in their processes, and has Prism judge each REST exchange by `gen/openapi.json`. */
export async function judgeByPrism(): Promise<JudgedCase[]> {
  const cases: JudgedCase[] = []
  const isMissing = !hasPrism()
  for (const [judge, tests] of Object.entries(SETS)) {
    if (isMissing) cases.push(absent(judge, 'This machine lacks it: needs it from npm.'))
    else cases.push(...(await judgeSet(judge, tests)))
  }
  return cases
}

async function judgeSet(judge: string, tests: readonly string[]): Promise<JudgedCase[]> {
  const { results, exchanges } = record(tests)
  const verdicts = await judgeExchanges(exchanges, readFileSync('gen/openapi.json', 'utf8'))
  const cases = verdicts.map((verdict): JudgedCase => ({ judge, verdict }))
  // The client's tests have servers in place of the service; their requests alone are judged.
  for (const exchange of judge === CLIENT ? [] : exchanges)
    if (!isOfService(exchange)) cases.push({ judge, verdict: failed(`${exchange.url} has no x-request-id`) })
  for (const { status, fullName } of results)
    if (status === 'failed') cases.push({ judge, verdict: failed(`The test itself fails: ${fullName}`) })
  return cases.length > 0 ? cases : [absent(judge, 'This machine runs none of these tests.')]
}

function record(tests: readonly string[]): { results: TestResult[]; exchanges: Exchange[] } {
  const folder = mkdtempSync(join(tmpdir(), 'exchanges-'))
  try {
    const results = runTests(tests, { NODE_OPTIONS: `--import ${RECORDER}`, RECORD_EXCHANGES: folder })
    return { results, exchanges: readExchanges(folder) }
  } finally {
    rmSync(folder, { recursive: true })
  }
}

function failed(reason: string): Verdict {
  return { kind: 'failed', reason }
}

function absent(judge: string, reason: string): JudgedCase {
  return { judge, verdict: { kind: 'not applicable', reason } }
}
