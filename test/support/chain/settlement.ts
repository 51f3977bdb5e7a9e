import type { DevnetContracts } from '../../../packages/cli/src/devnet/deploy.js'
import { type Rules, solverAccounts, startChain, type TestChain, user } from './chain.js'
import { type Calls, createCalls } from './contract-calls.js'
import { orderIdOf, type ServiceQuote, signQuote } from './signed-quote.js'

export { user }
export const [solver, otherSolver, anyone, stranger] = solverAccounts

export const BOND = 1000_000000n
export const INPUT_AMOUNT = 10n ** 18n
export const OUTPUT_AMOUNT = 3000_000000n
/** 5% of `OUTPUT_AMOUNT`. */
export const RESERVE = 150_000000n

const WINDOW_SECONDS = 60
const UNLIMITED = 2n ** 256n - 1n

export type Fixture = Awaited<ReturnType<typeof startSettlement>>

/**
 * A chain of its own with the contracts and two solvers with a bond of `BOND` each. The solvers have USDC to
 * pay out, the user has WETH to sell, and all have approved the contract.
 */
export async function startSettlement(rules: Rules = 'reference') {
  const { stop, ...chain } = await startChain({ bonded: 2, bond: BOND, rules })
  try {
    return { ...(await prepareSettlement(chain)), stop }
  } catch (error) {
    await stop()
    throw error
  }
}

async function prepareSettlement(chain: Omit<TestChain, 'stop'>) {
  const { devnet, contracts } = chain
  const calls = createCalls(devnet, contracts.settlement)
  for (const { account, token, amount } of [
    { account: solver, token: contracts.usdc, amount: 100n * OUTPUT_AMOUNT },
    { account: otherSolver, token: contracts.usdc, amount: 100n * OUTPUT_AMOUNT },
    { account: user, token: contracts.weth, amount: 100n * INPUT_AMOUNT },
  ]) {
    await calls.mint(token, account.address, amount)
    await calls.approve(token, account, UNLIMITED)
  }

  const startTime = Number((await calls.client.getBlock()).timestamp)
  let snapshot = await calls.client.snapshot()
  const keep = async () => {
    snapshot = await calls.client.snapshot()
  }
  return {
    ...calls,
    ...chain,
    startTime,
    ...createQuoting(calls, chain, startTime),
    balanceChanges: (action: () => Promise<unknown>) => balanceChanges(calls, contracts, action),
    /** Restores the first state of the chain, or the one that was kept, with its clock. */
    async reset() {
      await calls.client.revert({ id: snapshot })
      await keep()
    },
    keep,
  }
}

/** How a test gets a quote: signed only, or already taken by the user. */
function createQuoting(
  calls: Calls,
  { chainId, contracts, domain }: Omit<TestChain, 'stop'>,
  startTime: number,
) {
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
