import { isDecline } from '../../../../protocol/src/solvers/solver-result.js'
import { endpointUrlProblem } from '../../../../protocol/src/values/endpoint-url.js'
import type { CertifiedEndpoint } from '../certify-host.js'
import { EITHER, judge } from '../judge.js'
import { type Finding, fail, pass, warn, worseOf } from '../report.js'
import type { CertifyCase, TrialReply } from '../trial.js'
import { thenAsk } from './run-cases.js'

const MALFORMED_BODIES: readonly [name: string, body: string][] = [
  ['broken JSON', '{"inputToken": '],
  ['an empty body', ''],
  ['a list', '[]'],
  ['an object without fields', '{}'],
]

const ALL_REJECTED = 'Each got an error, and the next request an answer.'

/** A registration checks the URL first. */
export const endpointUrl: CertifyCase<CertifiedEndpoint> = {
  name: 'endpoint-url',
  title: 'the URL of the endpoint',
  async run(_trial, endpoint) {
    const problem = endpointUrlProblem(endpoint.url)
    if (problem !== undefined) return fail(`The endpoint ${problem}. No instance would register it.`)
    try {
      await endpoint.assertAllowedInProduction()
    } catch (error) {
      return warn(`An instance in production would reject this endpoint. ${(error as Error).message}`)
    }
    return pass('Instances in production accept this URL.')
  },
}

/** The case of an endpoint before those of many requests. A solver may close its connections after it. */
export const malformedRequests: CertifyCase<CertifiedEndpoint> = {
  name: 'malformed-requests',
  title: 'malformed requests get an error, and the next request an answer',
  async run(trial) {
    const findings: Finding[] = []
    for (const [name, body] of MALFORMED_BODIES) {
      const reply = await trial.requestQuote({ write: () => body })
      findings.push(judgeMalformed(name, reply))
      if (reply.result.kind === 'failed') break
    }
    const worst = findings.reduce(worseOf)
    return thenAsk(trial, 'malformed requests', worst.status === 'pass' ? pass(ALL_REJECTED) : worst)
  },
}

function judgeMalformed(name: string, reply: TrialReply): Finding {
  const { result } = reply
  if (result.kind === 'declined' && 'status' in result) {
    const { status } = result
    if (isDecline(status)) return pass(`Status ${status}.`)
    return warn(
      `A request with ${name} got status ${status}. Answer 400, so that your log shows no error of yours.`,
    )
  }
  if (result.kind === 'quoted' || result.kind === 'invalid')
    return fail(`A request with ${name} got status 200. Check the request, and answer 400.`)
  const found = judge(reply, EITHER)
  return fail(
    `A request with ${name} got no answer: ${found.text} Catch errors of reading it, and answer 400.`,
    ...(found.problems ?? []),
  )
}
