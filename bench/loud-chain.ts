import { startChain } from '../test/service/chain.js'
import { deployLoudSettlement } from '../test/service/loud-settlement.js'

export type LoudChain = Awaited<ReturnType<typeof startLoudChain>>

/** Does something on a chain whose settlement contract emits events at will; the chain is gone afterwards. */
export async function onLoudChain<Result>(work: (chain: LoudChain) => Promise<Result>): Promise<Result> {
  const chain = await startLoudChain()
  try {
    return await work(chain)
  } finally {
    await chain.stop()
  }
}

async function startLoudChain() {
  const chain = await startChain({ bonded: 0 })
  try {
    const loud = await deployLoudSettlement(chain.devnet, chain.contracts.bondToken)
    const contracts = { ...chain.contracts, settlement: loud.address }
    return { ...chain, contracts, shout: loud.shout }
  } catch (error) {
    await chain.stop()
    throw error
  }
}
