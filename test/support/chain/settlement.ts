import { type Anvil, startAnvil } from '../../../packages/cli/src/devnet/anvil.js'
import {
  bondSolver,
  type DevnetContracts,
  deploySettlement,
  devAccounts,
} from '../../../packages/cli/src/devnet/deploy.js'
import { bytecodeOf, type Rules } from './chain.js'
import { type Calls, createCalls } from './contract-calls.js'
import { orderIdOf, type ServiceQuote, signQuote } from './signed-quote.js'

export const [deployer, solver, user, anyone, otherSolver, stranger] = devAccounts

export const BOND = 1000_000000n
export const INPUT_AMOUNT = 10n ** 18n
export const OUTPUT_AMOUNT = 3000_000000n
/** 5% of `OUTPUT_AMOUNT`. */
export const RESERVE = 150_000000n

export const OrderState = { NONE: 0, DEPOSITED: 1, SETTLED: 2, REFUNDED: 3 } as const

const WINDOW_SECONDS = 60
const UNLIMITED = 2n ** 256n - 1n

export type Fixture = Awaited<ReturnType<typeof startSettlement>>

/**
 * A chain of its own with the contracts and two solvers with a bond of `BOND` each. The solvers have USDC to
 * pay out, the user has WETH to sell, and all have approved the contract.
 */
export async function startSettlement(rules: Rules = 'reference') {
  const anvil = await startAnvil()
  try {
    return await prepareSettlement(anvil, rules)
  } catch (error) {
    await anvil.stop()
    throw error
  }
}

async function prepareSettlement(anvil: Anvil, rules: Rules) {
  const devnet = { rpcUrl: anvil.url, chainId: anvil.chainId }
  const contracts = await deploySettlement({ ...devnet, deployer, ...bytecodeOf(rules) })
  const calls = createCalls(devnet, contracts.settlement)
  for (const account of [solver, otherSolver]) {
    await bondSolver({ ...devnet, settlement: contracts.settlement, solver: account }, BOND)
    await calls.mint(contracts.usdc, account.address, 100n * OUTPUT_AMOUNT)
    await calls.approve(contracts.usdc, account, UNLIMITED)
  }
  await calls.mint(contracts.weth, user.address, 100n * INPUT_AMOUNT)
  await calls.approve(contracts.weth, user, UNLIMITED)

  const startTime = Number((await calls.client.getBlock()).timestamp)
  let snapshot = await calls.client.snapshot()
  const keep = async () => {
    snapshot = await calls.client.snapshot()
  }
  return {
    ...calls,
    devnet,
    contracts,
    chainId: anvil.chainId,
    startTime,
    ...createQuoting(calls, contracts, anvil.chainId, startTime),
    balanceChanges: (action: () => Promise<unknown>) => balanceChanges(calls, contracts, action),
    /** Restores the first state of the chain, or the one that was kept, with its clock. */
    async reset() {
      await calls.client.revert({ id: snapshot })
      await keep()
    },
    keep,
    stop: () => anvil.stop(),
  }
}

/** How a test gets a quote: signed only, or already taken by the user. */
function createQuoting(calls: Calls, contracts: DevnetContracts, chainId: number, startTime: number) {
  const domain = { name: 'Settlement', version: '1', chainId, verifyingContract: contracts.settlement }
  let nonce = 0n

  /** The solver's offer of `OUTPUT_AMOUNT` USDC for `INPUT_AMOUNT` WETH to the user, with a nonce of its own. */
  function quote(changes: Partial<ServiceQuote> = {}): ServiceQuote {
    return {
      solver: solver.address,
      user: user.address,
      inputToken: contracts.weth,
      inputAmount: INPUT_AMOUNT,
      outputToken: contracts.usdc,
      outputAmount: OUTPUT_AMOUNT,
      orderType: 0,
      outputChainId: BigInt(chainId),
      depositDeadline: startTime + WINDOW_SECONDS,
      fillDeadline: startTime + 2 * WINDOW_SECONDS,
      nonce: nonce++,
      ...changes,
    }
  }

  /** A signed quote for `deposit` and `settle`, with its order id and deposit address. */
  async function signedQuote(changes: Partial<ServiceQuote> = {}, signer = solver) {
    const offer = quote(changes)
    const signature = await signQuote(signer, domain, offer)
    const depositAddress = await calls.view.computeDepositAddress([offer, signature])
    return { quote: offer, signature, orderId: orderIdOf(offer, signature), depositAddress }
  }

  return {
    domain,
    quote,
    signedQuote,
    /** A quote that the user took by `deposit`. */
    async depositedQuote(changes: Partial<ServiceQuote> = {}) {
      const taken = await signedQuote(changes)
      await calls.send(user, 'deposit', [taken.quote, taken.signature])
      return taken
    },
    /** A quote with `amount` of WETH at its deposit address. */
    async fundedQuote(changes: Partial<ServiceQuote> = {}, amount = INPUT_AMOUNT) {
      const taken = await signedQuote(changes)
      await calls.transfer(contracts.weth, user, taken.depositAddress, amount)
      return taken
    },
  }
}

/** The changes of the parties' balances by `action`, such as `{'user weth': -1n, 'settlement weth': 1n}`. */
async function balanceChanges(calls: Calls, contracts: DevnetContracts, action: () => Promise<unknown>) {
  const before = new Map(await balances(calls, contracts))
  await action()
  const changes = (await balances(calls, contracts)).map(
    ([key, after]) => [key, after - (before.get(key) ?? 0n)] as const,
  )
  return Object.fromEntries(changes.filter(([, change]) => change !== 0n))
}

function balances(calls: Calls, contracts: DevnetContracts): Promise<[string, bigint][]> {
  const holders = { solver, user, anyone, settlement: { address: contracts.settlement } }
  const tokens = { weth: contracts.weth, usdc: contracts.usdc, bond: contracts.bondToken }
  const entries = Object.entries(holders).flatMap(([holder, { address }]) =>
    Object.entries(tokens).map(
      async ([symbol, token]): Promise<[string, bigint]> => [
        `${holder} ${symbol}`,
        await calls.balanceOf(token, address),
      ],
    ),
  )
  return Promise.all(entries)
}
