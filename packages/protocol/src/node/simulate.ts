import type { Address, Hex } from '../values/hex.js'
import { ChainReadError, oddAnswer, unreadable } from './chain-read-error.js'
import { revertOf } from './revert.js'

/** Asks a node, as EIP-1193 has it: that of a viem client, of a wallet's provider or of another JSON-RPC client. */
// biome-ignore lint/suspicious/noExplicitAny: each library has its own types of methods and parameters
export type Request = (args: any) => Promise<unknown>

/** A block as JSON-RPC names it: by number, by tag, or by hash (EIP-1898). */
export type BlockName = Hex | 'latest' | 'pending' | { readonly blockHash: Hex }

/** A call that is simulated, in the form of JSON-RPC. */
interface SimulatedCall {
  /** In any letter case. */
  readonly to: Address
  readonly data: Hex
  readonly from?: Address
  readonly gas?: Hex
}

const READINGS_OF_NOTHING = 2

/**
 * Simulates a call of a contract.
 * @param name the function's name, for errors
 * @returns what the contract returns; undefined when it reverts. It returns nothing (`0x`) only when two readings say so,
 * each at a block at which the contract has code
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
      throw unreadable(name, error)
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
  throw oddAnswer(answer)
}

const BYTES = /^0x[0-9a-f]*$/i
