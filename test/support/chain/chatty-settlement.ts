import { type Address, encodeFunctionData, getAddress } from 'viem'
import {
  createDevnetClient,
  type Devnet,
  devAccounts,
  mined,
} from '../../../packages/cli/src/devnet/deploy.js'
import { quantity } from './batch-rpc.js'
import { createBlockMiner } from './block-miner.js'
import { compileSource } from './deploy-source.js'

/** How many events of made-up orders, in how many blocks. */
export interface EventBatch {
  events: number
  /** Default 400. One transaction has them all. */
  eventsPerBlock?: number
  /** Other seeds give other orders. Default 0. */
  seed?: number
}

export type ChattySettlement = Awaited<ReturnType<typeof deployChattySettlement>>

const [, , , , , , , , , speaker] = devAccounts
const GAS_OF_EVENT = 6_000
const GAS_OF_CALL = 100_000

/**
 * Compiles, which takes seconds, and deploys a settlement contract that emits any order events.
 * @param devnet a chain that mines each transaction at once
 */
export async function deployChattySettlement(devnet: Devnet, bondToken: Address) {
  const { abi, bytecode } = compiled()
  const client = createDevnetClient(devnet, speaker)
  const hash = await client.deployContract({ abi, bytecode, args: [bondToken] })
  const { contractAddress } = await mined(client, hash)
  if (!contractAddress) throw new Error('the deployment left no contract')
  const address = getAddress(contractAddress)
  const miner = await createBlockMiner(devnet.rpcUrl)

  return {
    address,
    /** Emits events, some thousands a second. @returns the blocks that hold them, both ends included */
    async emitEvents({ events, eventsPerBlock = 400, seed = 0 }: EventBatch) {
      const fromBlock = (await miner.blockAt('latest')).number + 1
      for (let start = 0; start < events; start += eventsPerBlock) {
        const count = Math.min(eventsPerBlock, events - start)
        const args = [BigInt(count), (BigInt(seed) << 64n) + BigInt(start)]
        const data = encodeFunctionData({ abi, functionName: 'emitEvents', args })
        const gas = quantity(GAS_OF_CALL + count * GAS_OF_EVENT)
        await miner.mine([{ from: speaker.address, to: address, data, gas }])
      }
      return { fromBlock, toBlock: (await miner.blockAt('latest')).number }
    },
  }
}

let source: ReturnType<typeof compileSource> | undefined

function compiled() {
  source ??= compileSource('ChattySettlement')
  return source
}
