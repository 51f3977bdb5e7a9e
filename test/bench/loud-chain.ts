import { startChain } from '../service/chain.js'
import { deployLoudSettlement } from '../service/loud-settlement.js'

export type LoudChain = Awaited<ReturnType<typeof startLoudChain>>

/** A chain whose settlement contract emits events at will. */
export async function startLoudChain() {
  const chain = await startChain({ bonded: 0 })
  const loud = await deployLoudSettlement(chain.devnet, chain.contracts.bondToken)
  const contracts = { ...chain.contracts, settlement: loud.address }
  return { ...chain, contracts, shout: loud.shout }
}
