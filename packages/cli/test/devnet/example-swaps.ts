import { createAggregatorClient, type QuoteParams, type SignedQuote } from '@quote-aggregator/client'
import { build } from 'esbuild'
import { bytesToHex, parseUnits } from 'viem'
import { BUNDLE } from '../../../../scripts/bundle.js'
import { startServiceInProcess } from '../../../../src/operator/demo/service-in-process.js'
import {
  bondSolver,
  createDevnetClient,
  type DevAccount,
  devAccounts,
  send,
} from '../../src/devnet/deploy.js'
import { type Network, startNetwork } from '../../src/devnet/network.js'

/** The account of the example solver. */
export const exampleAccount = devAccounts[6]

export const keyOf = (owner: DevAccount) => bytesToHex(owner.getHdKey().privateKey ?? new Uint8Array())

/** Bundles the example in TypeScript, whose sources each start would compile. @returns the path of the program */
export async function bundleExample(): Promise<string> {
  const outfile = `node_modules/.cache/solver-example-${process.pid}.mjs`
  await build({ ...BUNDLE, entryPoints: ['examples/solver-typescript/solver.ts'], outfile })
  return outfile
}

/** The local network, where a solver has a bond, and USDC to pay with. */
export async function startNetworkFor(solver: DevAccount): Promise<Network> {
  const network = await startNetwork({
    // The fill window is that of `npm run demo`.
    environment: { DEFAULT_FILL_WINDOW: '12', LOG_LEVEL: 'silent', RATE_LIMIT_QUOTE: '0' },
    onError: () => {},
    startService: startServiceInProcess,
  })
  const { devnet, contracts } = network
  await bondSolver({ ...devnet, settlement: contracts.settlement, solver }, parseUnits('50000', 6))
  const minter = createDevnetClient(devnet, devAccounts[0])
  await send(minter, contracts.usdc, 'mint', [solver.address, parseUnits('100000', 6)])
  return network
}

/** Where the example may bind for a minute, its offer is the best of the demo. */
export const SHORTER = { minDepositWindow: 60 }

/** The offers for one WETH, best first. */
export async function offersFor(
  { devnet, contracts, user, serviceUrl }: Network,
  changes: Partial<QuoteParams> = {},
): Promise<readonly SignedQuote[]> {
  const { best, alternatives } = await createAggregatorClient({ baseUrl: serviceUrl }).getQuote({
    chainId: devnet.chainId,
    inputToken: contracts.weth,
    outputToken: contracts.usdc,
    user: user.address,
    orderType: 'EXACT_INPUT',
    amount: parseUnits('1', 18),
    depositMode: 'CONTRACT',
    ...changes,
  })
  return [best, ...alternatives]
}

/** Whether an offer is the example's. */
export const isOfExample = ({ quote }: SignedQuote) =>
  quote.solver.toLowerCase() === exampleAccount.address.toLowerCase()
