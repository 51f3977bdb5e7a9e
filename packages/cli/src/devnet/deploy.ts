import { pbkdf2Sync } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import {
  type Abi,
  type Account,
  type Address,
  createWalletClient,
  defineChain,
  getAddress,
  type Hash,
  type Hex,
  http,
  publicActions,
  TransactionReceiptNotFoundError,
} from 'viem'
import { HDKey, hdKeyToAccount } from 'viem/accounts'
import { settlementAbi, settlementBytecode } from '../../../../gen/contracts/settlement.js'
import { testTokenAbi, testTokenBytecode } from '../../../../gen/contracts/test-token.js'

const POLLING_INTERVAL_MS = 50

/** The smallest output whose 5% is one unit of the bond. The bond would cover nothing of a smaller order. */
export const MIN_ORDER = 20n
const MNEMONIC = 'test test test test test test test test test test test junk'
/** The root of the accounts' keys (BIP-39). Viem derives it for each account, with a PBKDF2 in JavaScript. */
const ROOT_KEY = HDKey.fromMasterSeed(pbkdf2Sync(MNEMONIC, 'mnemonic', 2048, 64, 'sha512'))

/** Anvil's ten accounts, each with 10000 ether on a fresh chain. Their keys are public: for local networks only. */
export const devAccounts = [
  devAccount(0),
  devAccount(1),
  devAccount(2),
  devAccount(3),
  devAccount(4),
  devAccount(5),
  devAccount(6),
  devAccount(7),
  devAccount(8),
  devAccount(9),
] as const

/** One of anvil's accounts, whose key can be read. */
export type DevAccount = (typeof devAccounts)[number]

/** The URL and chain id of a local chain, such as an `Anvil`. */
export interface Devnet {
  rpcUrl: string
  chainId: number
}

export interface DevnetContracts {
  settlement: Address
  /** "Bond USD", 6 decimals, mintable by anyone. */
  bondToken: Address
  /** "Wrapped Ether", 18 decimals, mintable by anyone. */
  weth: Address
  /** "USD Coin", 6 decimals, mintable by anyone. */
  usdc: Address
}

export type DevnetClient = ReturnType<typeof createDevnetClient>

/** A viem client that reads, signs as `account` and sends. It sees a mined transaction within 50 ms. */
export function createDevnetClient({ rpcUrl, chainId }: Devnet, account: Account) {
  const chain = defineChain({
    id: chainId,
    name: `local chain ${chainId}`,
    nativeCurrency: { name: 'Ether', symbol: 'ETH', decimals: 18 },
    rpcUrls: { default: { http: [rpcUrl] } },
  })
  return createWalletClient({
    account,
    chain,
    transport: http(rpcUrl),
    pollingInterval: POLLING_INTERVAL_MS,
    cacheTime: 0,
  }).extend(publicActions)
}

/**
 * Deploys the bond token, the settlement contract for bonds in it, and two tokens to trade. The addresses
 * follow from the deployer and the number of its earlier transactions: they are always the same on a fresh
 * chain.
 *
 * @param options.minOrder the contract's smallest `outputAmount`. Default `MIN_ORDER`
 * @param options.bytecode the creation code of another contract with the same arguments and the same struct
 * @throws viem's errors, or Error when a deployment reverts
 */
export async function deploySettlement(
  options: Devnet & { deployer: Account; minOrder?: bigint; bytecode?: Hex },
): Promise<DevnetContracts> {
  const { minOrder = MIN_ORDER, bytecode = settlementBytecode } = options
  const client = createDevnetClient(options, options.deployer)
  async function deploy(abi: Abi, code: Hex, ...args: readonly unknown[]): Promise<Address> {
    const hash = await client.deployContract({ abi, bytecode: code, args })
    const { contractAddress } = await mined(client, hash)
    if (!contractAddress) throw new Error(`transaction ${hash} deployed no contract`)
    return getAddress(contractAddress)
  }
  const deployToken = (name: string, symbol: string, decimals: number) =>
    deploy(testTokenAbi, testTokenBytecode, name, symbol, decimals)
  const bondToken = await deployToken('Bond USD', 'bUSD', 6)
  const settlement = await deploy(settlementAbi, bytecode, bondToken, minOrder)
  const weth = await deployToken('Wrapped Ether', 'WETH', 18)
  const usdc = await deployToken('USD Coin', 'USDC', 6)
  return { settlement, bondToken, weth, usdc }
}

/**
 * Registers `solver` with a bond of `amount` (the bond token's smallest unit, 6 decimals, at least 1000e6),
 * minted for it.
 *
 * @throws viem's errors: an amount below the minimum, or a solver that is already registered, fails before it
 * is sent
 */
export async function bondSolver(
  options: Devnet & { settlement: Address; solver: Account },
  amount: bigint,
): Promise<void> {
  const { settlement, solver } = options
  const client = createDevnetClient(options, solver)
  const bondToken = await client.readContract({
    abi: settlementAbi,
    address: settlement,
    functionName: 'BOND_TOKEN',
  })
  await send(client, bondToken, 'mint', [solver.address, amount])
  await send(client, bondToken, 'approve', [settlement, amount])
  await send(client, settlement, 'registerSolver', [amount])
}

/** Calls the settlement contract or a token, and waits until that is mined. @throws viem's errors, and Error when it reverted */
export async function send(
  client: DevnetClient,
  address: Address,
  functionName: string,
  args: readonly unknown[],
): Promise<void> {
  const abi: Abi = [...testTokenAbi, ...settlementAbi]
  await mined(client, await client.writeContract({ address, abi, functionName, args }))
}

export function devAccount(addressIndex: number) {
  return hdKeyToAccount(ROOT_KEY, { addressIndex })
}

/** Waits until a transaction is mined. @throws Error when it reverted */
export async function mined(client: DevnetClient, hash: Hash) {
  const receipt = await receiptOf(client, hash)
  if (receipt.status !== 'success') throw new Error(`transaction ${hash} reverted`)
  return receipt
}

/**
 * Waits for the receipt of a transaction. Viem's own function asks once for each block, and on a chain that mines on demand no
 * further block may come.
 */
export async function receiptOf(client: Pick<DevnetClient, 'getTransactionReceipt'>, hash: Hash) {
  for (;;) {
    try {
      return await client.getTransactionReceipt({ hash })
    } catch (error) {
      if (!(error instanceof TransactionReceiptNotFoundError)) throw error
      await delay(POLLING_INTERVAL_MS)
    }
  }
}
