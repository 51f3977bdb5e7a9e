import { play } from './client.js'
import { differences } from './compare.js'
import { type Exceptions, matcherOf, notApplicable } from './exceptions.js'
import { expectedOf } from './expected.js'
import type { Suite } from './schema.js'
import { startConformanceServer } from './server.js'
import { type ConformanceCase, expandSuite } from './suites.js'

/** What became of a case. A failure that the list of exceptions names has its reason. */
export type Outcome =
  | { readonly kind: 'passed' }
  | { readonly kind: 'failed'; readonly differences: readonly string[]; readonly listed: string | undefined }
  | { readonly kind: 'not applicable'; readonly reason: string }

export interface CaseResult {
  readonly testCase: ConformanceCase
  readonly outcome: Outcome
}

export interface Run {
  readonly results: readonly CaseResult[]
  /** A sentence for each case that differs from the list of exceptions, and each exception without a case. Empty when all is well. */
  readonly surprises: readonly string[]
}

const AT_ONCE = 8

/** Plays all cases of the suites into the server, and compares the outcome with the list of exceptions. */
export async function runConformance(suites: readonly Suite[], exceptions: Exceptions): Promise<Run> {
  const server = await startConformanceServer()
  try {
    const waiting = suites.flatMap(expandSuite)
    const results: CaseResult[] = []
    async function work(): Promise<void> {
      for (;;) {
        const testCase = waiting.shift()
        if (testCase === undefined) return
        results.push({ testCase, outcome: await judge(testCase, server.url, exceptions) })
      }
    }
    await Promise.all(Array.from({ length: AT_ONCE }, work))
    return { results, surprises: findSurprises(results, exceptions) }
  } finally {
    await server.close(0, 0)
  }
}

async function judge(testCase: ConformanceCase, url: string, exceptions: Exceptions): Promise<Outcome> {
  const reason = notApplicable(testCase, exceptions)
  if (reason !== undefined) return { kind: 'not applicable', reason }
  const found = await play(testCase, url).then(
    (observed) => differences(expectedOf(testCase), observed, testCase.otherAllowedErrorCodes),
    (error: unknown) => [`it could not be played: ${String(error)}`],
  )
  if (found.length === 0) return { kind: 'passed' }
  const listed = exceptions.failing.find(({ cases }) => matcherOf(cases).test(testCase.name))
  return { kind: 'failed', differences: found, listed: listed?.reason }
}

function findSurprises(results: readonly CaseResult[], { failing }: Exceptions): string[] {
  const found = results.flatMap(({ testCase, outcome }) =>
    outcome.kind === 'failed' && outcome.listed === undefined
      ? [`${testCase.name} fails: ${outcome.differences.join('; ')}.`]
      : [],
  )
  for (const { cases } of failing) {
    const pattern = matcherOf(cases)
    const named = results.filter(({ testCase }) => pattern.test(testCase.name))
    if (named.length === 0) found.push(`${cases} is listed, but no case has this name.`)
    for (const { testCase, outcome } of named)
      if (outcome.kind !== 'failed')
        found.push(`${testCase.name} is listed as failing, but it is ${outcome.kind}.`)
  }
  return found
}
