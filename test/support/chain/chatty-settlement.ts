import { type Address, encodeFunctionData, type Hex, numberToHex } from 'viem'
import {
  createDevnetClient,
  type Devnet,
  devAccounts,
  mined,
} from '../../../packages/cli/src/devnet/deploy.js'
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
/** Room for all events of a block. */
const BLOCK_GAS_LIMIT = numberToHex(2_000_000_000)

let source: ReturnType<typeof compileSource> | undefined

/**
 * Compiles, which takes seconds, and deploys a settlement contract that emits any order events.
 * @param devnet a chain that mines each transaction at once
 */
export async function deployChattySettlement(devnet: Devnet, bondToken: Address) {
  source ??= compileSource('ChattySettlement')
  const { abi, deploy } = source
  const address = await deploy(devnet, [bondToken])
  const client = createDevnetClient(devnet, speaker)
  const request = client.request as (call: { method: string; params: unknown[] }) => Promise<Hex>
  await request({ method: 'evm_setBlockGasLimit', params: [BLOCK_GAS_LIMIT] })

  return {
    address,
    /** Emits events, some thousands a second. @returns the blocks that hold them, both ends included */
    async emitEvents({ events, eventsPerBlock = 400, seed = 0 }: EventBatch) {
      const fromBlock = Number(await client.getBlockNumber()) + 1
      for (let start = 0; start < events; start += eventsPerBlock) {
        const count = Math.min(eventsPerBlock, events - start)
        const args = [BigInt(count), (BigInt(seed) << 64n) + BigInt(start)]
        const data = encodeFunctionData({ abi, functionName: 'emitEvents', args })
        const gas = numberToHex(GAS_OF_CALL + count * GAS_OF_EVENT)
        const params = [{ from: speaker.address, to: address, data, gas }]
        await mined(client, await request({ method: 'eth_sendTransaction', params }))
      }
      return { fromBlock, toBlock: Number(await client.getBlockNumber()) }
    },
  }
}
