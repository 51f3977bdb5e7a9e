import secp256k1 from 'secp256k1'
import { systemClock } from '../packages/protocol/src/clock.js'
import { type Address, lowerCase } from '../packages/protocol/src/values/hex.js'
import { readChain } from '../packages/solver/src/chain/open-chain.js'
import { openNode } from '../packages/solver/src/chain/open-node.js'
import type { SolverRequest, WireReply } from '../test/support/solvers/solver.js'
import { benchAccount } from './bench-accounts.js'

/** Where the solvers of a benchmark settle. */
export interface Market {
  readonly rpcUrl: string
  readonly chainId: number
  readonly settlement: Address
}

const MAX_REPLIES = 16

/**
 * Builds a solver's replies with real signatures. Equal requests get the same reply and are not signed again, so that the
 * solvers take little of the machine of the measured service.
 * @param index number of the solver
 * @param write turns an offer into a reply of the transport
 * @returns a function that returns the reply to the request with this key
 */
export async function createReplies<T>(market: Market, index: number, write: (offer: WireReply) => T) {
  const account = benchAccount(index)
  const solver = lowerCase(account.address)
  const { rpcUrl, settlement, chainId } = market
  const chain = await readChain(
    chainId,
    { rpc: rpcUrl, settlement, tokens: [] } as never,
    openNode(rpcUrl, systemClock),
    'Service',
    solver,
  )
  const key = account.getHdKey().privateKey as Uint8Array
  const replies = new Map<string, T>()
  let asked = 0

  function offer(ask: SolverRequest): WireReply {
    const quote = {
      solver,
      user: lowerCase(ask.userAddress),
      inputToken: lowerCase(ask.inputToken),
      inputAmount: BigInt(ask.amount),
      outputToken: lowerCase(ask.outputToken),
      outputAmount: BigInt(ask.amount) + BigInt((index * 37) % 100),
      orderType: ask.orderType,
      outputChainId: ask.destinationChainId,
      depositDeadline: ask.depositDeadline,
      fillDeadline: ask.fillDeadline,
      nonce: BigInt(++asked),
    }
    const { signature, recid } = secp256k1.ecdsaSign(chain.hasher.hash(quote).digest, key)
    const wire = { inputAmount: ask.amount, outputAmount: String(quote.outputAmount), nonce: String(asked) }
    const bytes = Buffer.of(...signature, 27 + recid)
    return { quote: { ...quote, ...wire, orderType: 0 }, signature: `0x${bytes.toString('hex')}` }
  }

  return (key: string, ask: () => SolverRequest): T => {
    const known = replies.get(key)
    if (known !== undefined) return known
    const reply = write(offer(ask()))
    if (replies.size >= MAX_REPLIES) replies.clear()
    replies.set(key, reply)
    return reply
  }
}
