import { createAggregatorClient, type InstanceTrust } from '@quote-aggregator/client'
import type { Address } from 'viem'
import { createConfig, http, injected } from 'wagmi'
import { foundry } from 'wagmi/chains'

/** Vite's variables. The defaults are those of `npm run demo`. */
const {
  VITE_AGGREGATOR_URL = 'http://localhost:3000',
  VITE_RPC_URL = 'http://localhost:8545',
  VITE_SETTLEMENT,
  VITE_INPUT_TOKEN = '0x9fE46736679d2D9a65F0992F2272dE9f3c7fa6e0',
  VITE_OUTPUT_TOKEN = '0xCf7Ed3AccA5a467e9e704C703E8D87F634fB0Fc9',
} = import.meta.env as Partial<Record<string, string>>

export const aggregator = createAggregatorClient({ baseUrl: VITE_AGGREGATOR_URL })

/** A build pins the contract. In development, the instance names it. */
export const settlement: Address | InstanceTrust =
  VITE_SETTLEMENT === undefined ? { trustInstance: true, aggregator } : (VITE_SETTLEMENT as Address)
export const inputToken = VITE_INPUT_TOKEN as Address
export const outputToken = VITE_OUTPUT_TOKEN as Address
export const chainId = foundry.id

export const wagmi = createConfig({
  chains: [foundry],
  connectors: [injected()],
  transports: { [foundry.id]: http(VITE_RPC_URL) },
})

declare module 'wagmi' {
  interface Register {
    config: typeof wagmi
  }
}
