import type { TestChain } from './chain.js'
import { createCalls } from './contract-calls.js'

/** Moves the time of a chain on, with a block. What removes data goes by it, and not by the clock of the service. */
export async function passChainTime(
  { devnet, contracts }: Pick<TestChain, 'devnet' | 'contracts'>,
  ms: number,
): Promise<void> {
  const { client } = createCalls(devnet, contracts.settlement)
  await client.increaseTime({ seconds: Math.ceil(ms / 1000) })
  await client.mine({ blocks: 1 })
}
