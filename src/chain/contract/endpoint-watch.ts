import { within } from '../../../packages/chain/src/json-rpc.js'
import { type Endpoint, type EndpointTrouble, troubleOf } from '../../../packages/chain/src/rpc-endpoint.js'
import { numberIn } from '../../../packages/protocol/src/node/parse-blocks.js'
import type { ChainContext } from '../context.js'
import type { EndpointVerifier } from './verify-endpoint.js'

/** An endpoint that others replace, and why. */
export interface EndpointProblem {
  /** The host of its URL. */
  readonly endpoint: string
  readonly problem: EndpointTrouble
  /** The last head that it gave; undefined when it gave none. */
  readonly headBlock: number | undefined
}

const LOOK_MS = 4000
/**
 * An endpoint stands still that was below another one in so many looks, and did not move between them. One that has answered none of them, while
 * another did, gives no answer.
 */
const STILL_LOOKS = 3
/** An endpoint lags that was so many blocks below another one in so many looks. It is not synchronised, or was restored from a backup. */
const LAG_BLOCKS = 30
/** A look ends before the next one begins. */
const TIMEOUT_MS = 2000

interface SeenHead {
  readonly number: number
  /** Looks that found it below another head since it has moved last, or has been near to that. */
  readonly looksBelow: number
  readonly isFar: boolean
}

/**
 * Builds the watch, which compares the heads of a chain's endpoints on each replica, and sets the trouble that they show. A single endpoint
 * has no other to be compared with, and gets no calls.
 */
export function createEndpointWatch({ config, rpc, clock, log }: ChainContext, verifier: EndpointVerifier) {
  const { chainId } = config
  const { endpoints } = rpc
  const seen = new Map<Endpoint, SeenHead>()
  /** In how many looks each has not answered since it did last. */
  const missed = new Map<Endpoint, number>()
  const isStill = (endpoint: Endpoint) => (seen.get(endpoint)?.looksBelow ?? 0) >= STILL_LOOKS

  /** Reads the head of an endpoint and the id of its chain, in one message where it takes batches. @throws Error for an odd answer too */
  async function readHead(endpoint: Endpoint): Promise<number> {
    const [head] = await Promise.all([endpoint.request('eth_blockNumber'), verifier.verifyChain(endpoint)])
    const number = numberIn(head)
    if (number === undefined) throw new Error('eth_blockNumber has no number')
    return number
  }

  async function look(): Promise<void> {
    const answers = await Promise.allSettled(
      endpoints.map((endpoint) => within(clock, { timeoutMs: TIMEOUT_MS }, readHead(endpoint))),
    )
    const heads = new Map<Endpoint, number>()
    for (const [index, answer] of answers.entries()) {
      const endpoint = endpoints[index] as Endpoint
      if (answer.status === 'fulfilled') heads.set(endpoint, answer.value)
      else verifier.forget(endpoint)
    }
    if (heads.size === 0) return
    for (const endpoint of endpoints) countMissed(endpoint, heads.has(endpoint))
    const highest = Math.max(...heads.values())
    for (const [endpoint, number] of heads) compare(endpoint, number, highest)
    for (const endpoint of endpoints) endpoint.headTrouble = headTroubleOf(endpoint)
  }

  function countMissed(endpoint: Endpoint, hasAnswered: boolean): void {
    const looks = hasAnswered ? 0 : (missed.get(endpoint) ?? 0) + 1
    const fields = { chainId, endpoint: endpoint.host }
    if (hasAnswered && isSilent(endpoint)) log.info(fields, 'the endpoint answers again')
    missed.set(endpoint, looks)
    if (looks === STILL_LOOKS && !endpoint.isOfOtherChain)
      log.warn(fields, 'an endpoint does not answer, and others take its calls')
  }

  function isSilent(endpoint: Endpoint): boolean {
    return (missed.get(endpoint) ?? 0) >= STILL_LOOKS
  }

  function compare(endpoint: Endpoint, number: number, highest: number): void {
    const last = seen.get(endpoint)
    const isFar = highest - number >= LAG_BLOCKS
    const hasMoved = number !== last?.number && !isFar
    const looksBelow = (hasMoved ? 0 : (last?.looksBelow ?? 0)) + Number(number < highest)
    const wasStill = isStill(endpoint)
    seen.set(endpoint, { number, looksBelow, isFar })
    const fields = { chainId, endpoint: endpoint.host, headBlock: number, highestBlock: highest }
    if (hasMoved && wasStill) log.info(fields, 'the head of the endpoint moves again')
    if (wasStill || !isStill(endpoint)) return
    const trouble = isFar ? 'is far below that of another one' : 'stands still while another one moves'
    log.warn(fields, `the head of an endpoint ${trouble}: others come first until it moves`)
  }

  function headTroubleOf(endpoint: Endpoint): Endpoint['headTrouble'] {
    if (isSilent(endpoint)) return 'NO_ANSWER'
    if (!isStill(endpoint)) return undefined
    return seen.get(endpoint)?.isFar ? 'LAGS' : 'STANDS_STILL'
  }

  const timer = endpoints.length > 1 ? clock.setInterval(() => void look(), LOOK_MS) : undefined

  return {
    problems: (): readonly EndpointProblem[] =>
      endpoints.flatMap((endpoint) => {
        const problem = troubleOf(endpoint)
        const headBlock = seen.get(endpoint)?.number
        return problem === undefined ? [] : { endpoint: endpoint.host, problem, headBlock }
      }),
    close: (): void => timer?.stop(),
  }
}
