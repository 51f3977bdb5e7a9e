import { MAX_UINT256 } from '../../../../protocol/src/field-rules.js'
import { countWords } from '../../output/printable.js'
import { EITHER, judge, judgeAll } from '../judge.js'
import { type Finding, latencyOf, pass, warn } from '../report.js'
import { type CertifyCase, type RequestChange, randomAddress, type Trial, type TrialReply } from '../trial.js'

const REPEATS = 5
const CONCURRENCY = 50
const CONCURRENT_REQUESTS = 200
/** A short deadline, which a solver should hold. */
const SHORT_DEADLINE_MS = 150
/** Leaves an instance's default soft deadline of 500 ms some time for the way (docs/decisions.md, D30). */
const WANTED_P95_MS = 400
/** For the way there and back, and the timers of both sides. */
const TOLERANCE_MS = 100

/** Requests with other amounts and users, so that an answer to another request does not match. */
function distinct(index: number, { amount }: Trial): RequestChange {
  const other = amount + BigInt(index)
  return { fields: { amount: other > MAX_UINT256 ? amount : other, user: randomAddress() } }
}

/** Runs requests, of which some are open at a time. @returns the replies in the order in which they came */
async function requestMany(
  trial: Trial,
  count: number,
  concurrency: number,
  changeOf: (index: number) => RequestChange,
): Promise<TrialReply[]> {
  const replies: TrialReply[] = []
  let next = 0
  async function work(): Promise<void> {
    while (next < count) replies.push(await trial.requestQuote(changeOf(next++)))
  }
  await Promise.all(Array.from({ length: Math.min(count, concurrency) }, work))
  return replies
}

/** Says how many replies of each kind came, and how many declines with each code. */
function countKinds(replies: readonly TrialReply[]): string {
  const kinds = replies.map(({ result }) => {
    if (result.kind !== 'declined') return result.kind
    return `declined with ${'code' in result ? result.code : result.status}`
  })
  return countWords(kinds)
}

/** Asks the usual request after an odd one. @returns what was found of the odd one, unless the usual one fails */
export async function thenAsk(trial: Trial, odd: string, found: Finding): Promise<Finding> {
  const next = judge(await trial.requestQuote(), EITHER)
  return next.status === 'pass' ? found : { ...next, text: `After ${odd}: ${next.text}` }
}

/** Repeats a request. All nonces of a run are compared, and here the rest is the same too. */
const repeatedRequests: CertifyCase = {
  name: 'repeated-requests',
  title: `the same request ${REPEATS} times, with new nonces`,
  async run(trial) {
    const same = { fields: { user: randomAddress() } }
    const replies = await requestMany(trial, REPEATS, 1, () => same)
    const found = judgeAll(replies, EITHER)
    return found.status === 'pass' ? pass(`${countKinds(replies)}; every nonce is new.`) : found
  },
}

/** A solver that has less time answers sooner, or declines. */
const shortDeadline: CertifyCase = {
  name: 'short-deadline',
  title: `a deadline in ${SHORT_DEADLINE_MS} ms`,
  async run(trial) {
    const reply = await trial.requestQuote({ deadlineMs: SHORT_DEADLINE_MS })
    const tookMs = Math.round(reply.tookMs)
    if (reply.result.kind !== 'late' && reply.tookMs <= SHORT_DEADLINE_MS + TOLERANCE_MS)
      return judge(reply, EITHER)
    return warn(
      `The answer took ${tookMs} ms: it is dropped after the deadline. Read the deadline of the request, and decline in time.`,
    )
  },
}

/** Many requests at a time: each reply must match its request, in time. */
const concurrentRequests: CertifyCase = {
  name: 'concurrent-requests',
  title: `${CONCURRENT_REQUESTS} requests, ${CONCURRENCY} at a time`,
  async run(trial) {
    const replies = await requestMany(trial, CONCURRENT_REQUESTS, CONCURRENCY, (index) =>
      distinct(index, trial),
    )
    return { ...judgeLoad(trial, replies), latency: latencyOf(replies) }
  },
}

function judgeLoad({ timeoutMs }: Trial, replies: readonly TrialReply[]): Finding {
  const { p50, p95, p99 } = latencyOf(replies)
  const times = `${countKinds(replies)}; p50 ${p50} ms, p95 ${p95} ms, p99 ${p99} ms of ${timeoutMs} ms.`
  const found = judgeAll(replies, EITHER)
  if (found.status !== 'pass') return { ...found, text: `${times} ${found.text}` }
  const wantedMs = Math.min(WANTED_P95_MS, timeoutMs / 2)
  if (p95 > wantedMs)
    return warn(
      `${times} Answer within ${wantedMs} ms: a quote does not wait longer for you than its soft deadline, 500 ms by default, when others have made offers.`,
    )
  if (replies.every(({ result }) => result.kind === 'declined'))
    return warn(
      `${times} You declined all of them. For lack of liquidity, ask for a smaller --amount; with PAUSED, look why the solver pauses.`,
    )
  return pass(times)
}

/** The cases of many requests, for endpoints and sessions. */
export const runCases: readonly CertifyCase[] = [repeatedRequests, shortDeadline, concurrentRequests]
