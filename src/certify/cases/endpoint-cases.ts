import { setTimeout as delay } from 'node:timers/promises'
import { isDecline, isRedirect } from '../../domain/solver-result.js'
import type { CertifiedEndpoint } from '../endpoint.js'
import { EITHER, judge, judgeAll } from '../judge.js'
import { type Finding, fail, pass, warn } from '../report.js'
import type { Trial, TrialReply } from '../trial.js'
import type { CertifyCase } from './case.js'
import { requestMany } from './run-cases.js'

const SEQUENCE = 3
/** The solver's end of a connection may come a moment after its reply. */
const CLOSING_MS = 50

const MALFORMED_BODIES: readonly [name: string, body: string][] = [
  ['broken JSON', '{"inputToken": '],
  ['an empty body', ''],
  ['a list', '[]'],
  ['an object without fields', '{}'],
]

/** A registration checks the URL first. */
export const endpointUrl: CertifyCase<CertifiedEndpoint> = {
  name: 'endpoint-url',
  title: 'the URL of the endpoint',
  run: (_trial, endpoint) => endpoint.checkUrl(),
}

const malformedRequests: CertifyCase<CertifiedEndpoint> = {
  name: 'malformed-requests',
  title: 'malformed requests get an error, and the next request an answer',
  async run(trial) {
    const findings: Finding[] = []
    for (const [name, body] of MALFORMED_BODIES) {
      const reply = await trial.requestQuote({ write: () => body })
      findings.push(judgeMalformed(name, reply, trial))
    }
    const next = judge(await trial.requestQuote(), trial.signing, EITHER)
    if (next.status !== 'pass') return { ...next, text: `After malformed requests: ${next.text}` }
    const failed = findings.find(({ status }) => status === 'fail')
    return (
      failed ??
      findings.find(({ status }) => status === 'warn') ??
      pass('Each got an error, and the next request an answer.')
    )
  },
}

function judgeMalformed(name: string, reply: TrialReply, trial: Trial): Finding {
  const { result } = reply
  if (result.kind === 'declined' && 'status' in result) {
    const { status } = result
    if (isRedirect(status)) return judge(reply, trial.signing, EITHER)
    if (isDecline(status)) return pass(`Status ${status}.`)
    return warn(
      `A request with ${name} got status ${status}. Answer 400, so that your log shows no error of yours.`,
    )
  }
  if (result.kind === 'quoted' || result.kind === 'invalid')
    return fail(`A request with ${name} got status 200. Check the request, and answer 400.`)
  const found = judge(reply, trial.signing, EITHER)
  return { ...found, text: `A request with ${name} got no answer: ${found.text} Answer 400.` }
}

const connectionReuse: CertifyCase<CertifiedEndpoint> = {
  name: 'connection-reuse',
  title: 'connections stay open between requests',
  async run(trial, endpoint) {
    const replies = await requestMany(trial, SEQUENCE, 1, () => ({}))
    const found = judgeAll(replies, trial.signing, EITHER)
    if (found.status !== 'pass') return found
    await delay(CLOSING_MS, undefined, { signal: trial.signal })
    if (endpoint.countConnections() > 0) return pass('The connection is kept.')
    return warn(
      'The solver closes each connection after its reply. Keep it open (HTTP/1.1 keep-alive): a new one costs several round trips of your time.',
    )
  },
}

/** The cases of an endpoint, before those of many requests. */
export const endpointCases: readonly CertifyCase<CertifiedEndpoint>[] = [malformedRequests, connectionReuse]
