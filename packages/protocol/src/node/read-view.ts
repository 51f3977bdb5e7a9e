import type { View } from '../settlement/settlement.js'
import type { Address, Hex } from '../values/hex.js'
import { wordsOf } from './node-words.js'
import { numberIn } from './parse-blocks.js'
import { revertOf } from './revert.js'

/** Asks a node, as EIP-1193 has it: that of a viem client, of a wallet's provider or of another JSON-RPC client. */
// biome-ignore lint/suspicious/noExplicitAny: each library has its own types of methods and parameters
export type Request = (args: any) => Promise<unknown>

/** A block as JSON-RPC names it: by number, by tag, or by hash (EIP-1898). */
export type BlockName = Hex | 'latest' | { readonly blockHash: Hex }

/** A call that is simulated, in the form of JSON-RPC. */
export interface SimulatedCall {
  /** In any letter case. */
  readonly to: Address
  readonly data: Hex
  readonly from?: Address
  readonly gas?: Hex
}

/** Why a chain could not be read. `failed` says nothing of the contract: a later read may succeed. */
export type ReadFailure = 'failed' | 'absent' | 'no code'

/**
 * A view or another value of a chain could not be read. The message has the node's words, without the path, the query and the credentials of URLs. There
 * is no cause, because errors of viem have the whole URL.
 */
export class ChainReadError extends Error {
  override readonly name = 'ChainReadError'
  readonly failure: ReadFailure
  readonly #source: unknown

  constructor(failure: ReadFailure, message: string, source?: unknown) {
    super(message)
    this.failure = failure
    this.#source = source
  }

  /** What the request was rejected with; undefined after an answer. It may have the key of a node: it is only to be judged. */
  static sourceOf(error: ChainReadError): unknown {
    return error.#source
  }
}

/**
 * Reads a view that the contract must have.
 * @throws ChainReadError, also when the contract does not have it
 */
export async function readView<T>(
  request: Request,
  contract: Address,
  view: View<T>,
  at?: BlockName,
): Promise<T> {
  const value = await findView(request, contract, view, at)
  if (value !== undefined) return value
  throw new ChainReadError('absent', `${contract} has no ${view.name}`)
}

/**
 * Reads a view that not every contract has (docs/decisions.md, D22).
 * @param at the latest block when left out
 * @returns undefined when the contract does not have it. Only a revert says so, or no data at all, as `simulate` returns them
 * @throws ChainReadError
 */
export async function findView<T>(
  request: Request,
  contract: Address,
  { name, data, decode }: View<T>,
  at?: BlockName,
): Promise<T | undefined> {
  const answer = await simulate(request, { to: contract, data }, name, at)
  try {
    return answer && answer !== '0x' ? decode(answer) : undefined
  } catch {
    throw failed(name, odd(answer))
  }
}

/** Reads which chain a node serves. @throws ChainReadError */
export async function readChainId(request: Request): Promise<number> {
  try {
    const answer = await request({ method: 'eth_chainId', params: [] })
    const chainId = numberIn(answer)
    if (chainId !== undefined) return chainId
    throw odd(answer)
  } catch (error) {
    throw failed('the chain id', error)
  }
}

/** Reads the time of the newest block, Unix time in seconds. @throws ChainReadError */
export async function readBlockTime(request: Request): Promise<number> {
  const block = await request({ method: 'eth_getBlockByNumber', params: ['latest', false] }).catch(
    (error) => {
      throw failed('the newest block', error)
    },
  )
  const time = Number(Object(block).timestamp)
  if (time > 0) return time
  throw odd(block)
}

const READINGS_OF_NOTHING = 2

/**
 * Simulates a call of a contract.
 * @param name the function's name, for errors
 * @returns what the contract returns; undefined when it reverts. It returns nothing (`0x`) only when two readings say so, each at
 *   a block at which the contract has code
 * @throws ChainReadError for any other error of the node, and when there is no contract
 */
export async function simulate(
  request: Request,
  call: SimulatedCall,
  name: string,
  at?: BlockName,
): Promise<Hex | undefined> {
  const to = call.to.toLowerCase()

  /** @returns undefined after a revert */
  async function ask(method: string, ...params: unknown[]): Promise<Hex | undefined> {
    try {
      return bytesOf(await request({ method, params }))
    } catch (error) {
      const revert = revertOf(error)
      // Some nodes repeat the data of the call in an error of their own.
      if (revert && revert.data !== call.data) return undefined
      throw failed(name, error)
    }
  }

  const callAt = (block: BlockName) => ask('eth_call', { ...call, to }, block)

  let answer = await callAt(at ?? 'latest')
  let withCode = 0
  // A node that lags does not have the contract yet, and another may answer the next call.
  for (let left = READINGS_OF_NOTHING; answer === '0x' && left > 0; left--) {
    // One block for both, which another node behind the same URL must have as well.
    const newest = at ?? (await ask('eth_blockNumber'))
    // Block 0 reads as no data.
    const block = newest && newest !== '0x' ? newest : 'latest'
    const [again, code] = await Promise.all([callAt(block), ask('eth_getCode', to, block)])
    answer = again
    if (code && code !== '0x') withCode++
  }
  if (answer !== '0x' || withCode === READINGS_OF_NOTHING) return answer
  const failure = withCode > 0 ? 'failed' : 'no code'
  throw new ChainReadError(failure, `${name} could not be read: ${to} has no code`)
}

function bytesOf(answer: unknown): Hex {
  if (answer === '' || answer === '0x0') return '0x'
  if (typeof answer === 'string' && BYTES.test(answer)) return answer as Hex
  throw odd(answer)
}

const BYTES = /^0x[0-9a-f]*$/i

function failed(name: string, source: unknown): ChainReadError {
  return new ChainReadError('failed', `${name} could not be read: ${wordsOf(source)}`, source ?? null)
}

function odd(answer: unknown): ChainReadError {
  return new ChainReadError('failed', `the node answers ${JSON.stringify(answer)}`)
}
