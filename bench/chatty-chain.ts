import { startChain, type TestChain } from '../test/support/chain/chain.js'
import { deployChattySettlement } from '../test/support/chain/chatty-settlement.js'

export type ChattyChain = Awaited<ReturnType<typeof startChattyChain>>

/** Runs an action on a chain whose settlement contract emits any events. The chain ends afterwards. */
export async function onChattyChain<Result>(work: (chain: ChattyChain) => Promise<Result>): Promise<Result> {
  const chain = await startChattyChain()
  try {
    return await work(chain)
  } finally {
    await chain.stop()
  }
}

async function startChattyChain() {
  const chain = await startChain({ bonded: 0 })
  try {
    return await makeChatty(chain)
  } catch (error) {
    await chain.stop()
    throw error
  }
}

/** A chain with a settlement contract that emits any events in place of its own one. */
async function makeChatty(chain: TestChain) {
  const chatty = await deployChattySettlement(chain.devnet, chain.contracts.bondToken)
  const contracts = { ...chain.contracts, settlement: chatty.address }
  return { ...chain, contracts, emitEvents: chatty.emitEvents }
}
