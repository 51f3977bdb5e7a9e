import { type Account, type Address, parseUnits } from 'viem'
import { startAnvil } from './anvil.js'
import {
  bondSolver,
  createDevnetClient,
  type DevAccount,
  type Devnet,
  type DevnetContracts,
  deploySettlement,
  devAccounts,
  send,
} from './deploy.js'
import { freeOrAny } from './preferred-port.js'
import { type ReferenceSolver, startReferenceSolver, type TradedToken } from './reference-solver.js'
import { writeTokenList } from './write-token-list.js'

/** A whole local network: a chain, the contracts, three solvers, and the service with these solvers. */
export interface Network {
  readonly devnet: Devnet
  readonly contracts: DevnetContracts
  readonly solvers: readonly ReferenceSolver[]
  /** The base URL of the service. */
  readonly serviceUrl: string
  /** The account that the demo trades with. It owns some of each token. */
  readonly user: DevAccount
  /** What the solvers think that a WETH is worth. */
  readonly weth: TradedToken
  /** The ports that its parts were to take. */
  readonly ports: { readonly service: number; readonly chain: number; readonly firstSolver: number }
  close(): Promise<void>
}

interface NetworkOptions {
  /** Further variables of the service. Those that the network needs take precedence. */
  readonly environment: NodeJS.ProcessEnv
  /** Called with the errors of a solver. */
  readonly onError: (error: unknown) => void
  /** The port that the service takes where it is free; 3000 when left out. The other parts leave it to the service. */
  readonly servicePort?: number | undefined
  /** The ports of the chain, and of the first solver with an endpoint, where they are free; the usual ones when left out. */
  readonly chainPort?: number | undefined
  readonly solverPort?: number | undefined
  /** Starts the service with these variables. */
  readonly startService: (environment: NodeJS.ProcessEnv) => Promise<RunningService>
}

/** A service of a network. */
export interface RunningService {
  readonly url: string
  close(): Promise<void>
}

const PROTOCOL_NAME = 'Service'
const BOND = parseUnits('50000', 6)
/** A block for each transaction, and one in between, since solvers trust no clock of a chain that stands still. */
const MINING = ['--mixed-mining', '--block-time', '1']
/** Of a WETH. */
export const USUAL_PRICE_MICROS = 2_500_000_000n
const INVENTORY = { weth: parseUnits('1000000', 18), usdc: parseUnits('5000000000', 6) }
const PURSE = { weth: parseUnits('1000', 18), usdc: parseUnits('1000000', 6) }

/**
 * The reference solvers: a smaller spread offers more. The last one connects to the service, and has no port. Without traffic, it
 * wins where the user buys an exact amount.
 */
const SOLVERS = [
  { name: 'Aldous', spreadBps: { EXACT_INPUT: 5, EXACT_OUTPUT: 6 }, hasEndpoint: true },
  { name: 'Beatrix', spreadBps: { EXACT_INPUT: 12, EXACT_OUTPUT: 12 }, hasEndpoint: true },
  { name: 'Cosmo', spreadBps: { EXACT_INPUT: 30, EXACT_OUTPUT: 5 }, hasEndpoint: false },
] as const

/**
 * Starts a local network on 127.0.0.1, at the usual ports if they are free. When a later step fails,
 * everything that was started is ended.
 */
export async function startNetwork(options: NetworkOptions): Promise<Network> {
  const started: { close(): Promise<void> }[] = []
  const close = async () => {
    for (const part of started.toReversed()) await part.close()
  }
  try {
    const { servicePort = 3000, chainPort = 8545, solverPort = 4001, startService } = options
    // The service has not begun to listen.
    const port = chainPort === servicePort ? 0 : await freeOrAny(chainPort)
    const anvil = await startAnvil({ port, extraArgs: MINING })
    started.push({ close: anvil.stop })
    const [deployer, user, ...solverAccounts] = devAccounts
    const devnet = { rpcUrl: anvil.url, chainId: anvil.chainId }
    const contracts = await deploySettlement({ ...devnet, deployer })
    await mint(devnet, deployer, user.address, contracts, PURSE)

    const tokenList = writeTokenList(devnet, contracts)
    started.push(tokenList)
    const environment = {
      [`CHAIN_NAME_${devnet.chainId}`]: 'Demo chain',
      [`PUBLIC_RPC_URL_${devnet.chainId}`]: devnet.rpcUrl,
      [`TOKEN_LIST_${devnet.chainId}`]: tokenList.path,
      ...options.environment,
      ...serviceEnvironment(devnet, contracts),
    }
    const service = await startService({ ...environment, PORT: String(await freeOrAny(servicePort)) })
    started.push(service)
    const solvers: ReferenceSolver[] = []
    const tokens = tradedTokens(contracts)
    for (const [index, { name, spreadBps, hasEndpoint }] of SOLVERS.entries()) {
      const account = solverAccounts[index] ?? deployer
      await bondSolver({ ...devnet, settlement: contracts.settlement, solver: account }, BOND)
      await mint(devnet, deployer, account.address, contracts, INVENTORY)
      const solver = await startReferenceSolver({
        ...devnet,
        account,
        name,
        spreadBps: { ...spreadBps },
        settlement: contracts.settlement,
        tokens,
        protocolName: PROTOCOL_NAME,
        aggregatorUrl: service.url,
        transport: hasEndpoint ? { usualPort: solverPort + index } : 'session',
        onError: options.onError,
      })
      started.push(solver)
      solvers.push(solver)
    }
    const ports = { service: servicePort, chain: chainPort, firstSolver: solverPort }
    return { devnet, contracts, solvers, serviceUrl: service.url, user, weth: tokens[0], ports, close }
  } catch (error) {
    await close()
    throw error
  }
}

/** What the reference solvers trade, and at which prices. */
export function tradedTokens({ weth, usdc }: DevnetContracts): [weth: TradedToken, usdc: TradedToken] {
  return [
    { address: weth, decimals: 18, priceMicros: USUAL_PRICE_MICROS },
    { address: usdc, decimals: 6, priceMicros: 1_000_000n },
  ]
}

function serviceEnvironment({ chainId, rpcUrl }: Devnet, { settlement }: DevnetContracts): NodeJS.ProcessEnv {
  return {
    SUPPORTED_CHAINS: String(chainId),
    [`RPC_URL_${chainId}`]: rpcUrl,
    [`SERVICE_ADDRESS_${chainId}`]: settlement,
    PROTOCOL_NAME,
    HOST: '127.0.0.1',
    DB_PATH: ':memory:',
    // A port that the caller has for another purpose is not used for this.
    DATABASE_URL: '',
    DATABASE_URL_FILE: '',
    NODE_ENV: 'development',
  }
}

async function mint(
  devnet: Devnet,
  payer: Account,
  to: Address,
  { weth, usdc }: DevnetContracts,
  amounts: typeof PURSE,
): Promise<void> {
  const client = createDevnetClient(devnet, payer)
  await send(client, weth, 'mint', [to, amounts.weth])
  await send(client, usdc, 'mint', [to, amounts.usdc])
}
