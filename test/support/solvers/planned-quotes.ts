import type { Random } from '../random.js'
import { type Behaviour, honest } from './solver.js'

/** The results of requests that statistics count. */
export const RESULTS = ['quoted', 'declined', 'invalid', 'failed', 'late'] as const
export type Result = (typeof RESULTS)[number]

/** What a solver does with one request. */
export interface Doing {
  readonly result: Result
  readonly behave: Behaviour
  readonly delayMs: number
}

/** One request of a user, and what each solver does with it. */
export interface Plan {
  readonly kind: 'quote' | 'price'
  /** When the caller leaves; undefined when it stays. */
  readonly leavesAfterMs: number | undefined
  readonly doings: readonly Doing[]
}

const status =
  (code: number): Behaviour =>
  async (_ask, _solver, { response }) =>
    void response.writeHead(code).end()

const INVALID: readonly [Behaviour, ...Behaviour[]] = [
  async (ask, { quoteFor, sign }) => sign({ ...quoteFor(ask), user: ask.inputToken }),
  async (ask, { quoteFor, sign }) => sign({ ...quoteFor(ask), inputAmount: '7' }),
  async (ask, { quoteFor, sign }) => ({ ...(await sign(quoteFor(ask))), signature: `0x${'11'.repeat(65)}` }),
  async (_ask, _solver, { response }) => void response.end('no JSON'),
]

const FAILED: readonly [Behaviour, ...Behaviour[]] = [
  async (_ask, _solver, { response }) => void response.destroy(),
  async (_ask, _solver, { response }) => {
    response.writeHead(200, { 'content-length': '100' })
    response.write('{', () => response.destroy())
    return undefined
  },
]

const silent: Behaviour = async () => undefined

/** The frequency of each result. */
const FREQUENCIES = { quoted: 14, declined: 4, invalid: 2, failed: 2, late: 1 } as const
const ALL = RESULTS.flatMap((result) => new Array<Result>(FREQUENCIES[result]).fill(result))

/**
 * Plans requests, the same ones in every run with the same random values. Offers are often equal. Most requests are for
 * quotes, and some callers leave.
 */
export function createPlanner(random: Random, solvers: number): () => Plan {
  function planDoing(): Doing {
    const result = random.pick(ALL as [Result, ...Result[]])
    const behave = {
      quoted: honest({ output: String(random.integer(1000, 1020)) }),
      declined: status(random.pick([422, 404, 400, 503])),
      invalid: random.pick(INVALID),
      failed: random.pick(FAILED),
      late: silent,
    }[result]
    return { result, behave, delayMs: random.integer(0, 40) }
  }

  return () => {
    const doings = Array.from({ length: solvers }, planDoing)
    const kind = random.integer(1, 12) === 1 ? 'price' : 'quote'
    if (kind === 'price' || random.integer(1, 12) > 1) return { kind, leavesAfterMs: undefined, doings }
    // With a silent solver, no round has ended before its caller leaves.
    doings[random.integer(0, solvers - 1)] = { result: 'late', behave: silent, delayMs: 0 }
    return { kind, leavesAfterMs: random.integer(1, 200), doings }
  }
}
