import { copyFileSync, existsSync } from 'node:fs'
import { type Abi, encodeFunctionData } from 'viem'
import { deployedSettlementAbi } from '../../gen/contracts/deployed-settlement.js'
import { testTokenAbi } from '../../gen/contracts/test-token.js'
import { devAccounts } from '../../packages/cli/src/devnet/deploy.js'
import type { Address, Hex } from '../../packages/protocol/src/values/hex.js'
import { lowerCase } from '../../packages/protocol/src/values/hex.js'
import { createSolver } from '../../packages/solver/src/create-solver.js'
import type { ChainOptions, SolverOptions } from '../../packages/solver/src/solver-options.js'
import { readStatement } from '../../packages/solver/src/statement.js'
import type { Rules } from '../support/chain/chain.js'
import { temporaryFile } from '../support/databases/temporary-file.js'
import { createManualClock } from '../support/manual-clock.js'
import { createModelChain } from '../support/model-chain/model-chain.js'
import { createModelContracts } from '../support/model-chain/model-contracts.js'
import { createModelNode, type ModelNode } from '../support/model-chain/model-node.js'
import { fixedPrice } from '../support/solver-kit/fixed-price.js'
import { keyOf } from '../support/solver-kit/market.js'
import { createMortalClock, type MortalClock } from './mortal-clock.js'

const [, solverAccount, ...others] = devAccounts
export const SOLVER = lowerCase(solverAccount.address)
export const USERS = others.slice(0, 3).map(({ address }) => lowerCase(address)) as [Address, ...Address[]]
export const STRANGER = lowerCase((others[3] as (typeof others)[number]).address)

export const CHAIN_ID = 31337
export const SETTLEMENT: Address = `0x${'5e'.repeat(20)}`
const BOND_TOKEN: Address = `0x${'b0'.repeat(20)}`
export const WETH: Address = `0x${'e1'.repeat(20)}`
export const USDC: Address = `0x${'0d'.repeat(20)}`
/** Burns 1 % of each transfer. */
export const FEE_TOKEN: Address = `0x${'fe'.repeat(20)}`

export const BOND = 50_000_000000n
export const FUNDS = 1_000_000_000000n
const UNLIMITED = 2n ** 256n - 1n
const START_SECONDS = 1_800_000_000
const POLL_MS = 2_000

export type World = ReturnType<typeof createWorld>

/** A solver of the kit as a process: it can be killed, and only its state file stays. */
export interface Incarnation {
  readonly solver: ReturnType<typeof createSolver>
  readonly node: ModelNode
  readonly clock: MortalClock
  readonly errors: unknown[]
  /** What has become of `start`. */
  progress: 'starting' | 'started' | 'failed'
}

export const settlementCall = (functionName: string, args: readonly unknown[]): Hex =>
  encodeFunctionData({ abi: deployedSettlementAbi as Abi, functionName, args })
export const tokenCall = (functionName: string, args: readonly unknown[]): Hex =>
  encodeFunctionData({ abi: testTokenAbi as Abi, functionName, args })

/** Builds a chain with a bonded solver and users who own tokens, all in memory, and the time of all of it. */
export function createWorld(rules: Rules) {
  const clock = createManualClock(START_SECONDS * 1000)
  const contracts = createModelContracts({
    rules,
    chainId: CHAIN_ID,
    addresses: {
      settlement: SETTLEMENT,
      bondToken: BOND_TOKEN,
      tokens: { [WETH]: 0n, [USDC]: 0n, [FEE_TOKEN]: 1n },
    },
    depositProxyCodeHash: `0x${'c0de'.repeat(16)}`,
    minOrder: 1_000000n,
  })
  const { settlement: state, token } = contracts
  contracts.set(() => {
    token(USDC).mint(SOLVER, FUNDS)
    token(BOND_TOKEN).mint(SETTLEMENT, BOND)
    state.setBond(SOLVER, { totalBond: BOND, registered: true })
    for (const owner of [...USERS, STRANGER])
      for (const address of [WETH, FEE_TOKEN]) {
        token(address).mint(owner, 10n ** 24n)
        token(address).approve(owner, SETTLEMENT, UNLIMITED)
      }
  })
  const chain = createModelChain(contracts, SOLVER, START_SECONDS)
  let stateFile = temporaryFile()

  return {
    rules,
    clock,
    chain,
    contracts,
    /** What the solver's state file says. */
    statement: () => readStatement(stateFile, 0, Number.MAX_SAFE_INTEGER),
    /** Starts the solver on the state that an earlier one has left. Blocks must be mined for its approvals. */
    start(options: Partial<SolverOptions> = {}, limits: Partial<ChainOptions> = {}): Incarnation {
      const node = createModelNode(chain, CHAIN_ID)
      const own = createMortalClock(clock)
      const errors: unknown[] = []
      const terms = { rpc: node.transport, settlement: SETTLEMENT, tokens: [WETH, USDC, FEE_TOKEN] }
      const solver = createSolver(
        {
          account: keyOf(solverAccount),
          name: 'Dora',
          aggregatorUrl: 'http://127.0.0.1:1',
          endpointUrl: `http://127.0.0.1:1/${'s'.repeat(22)}`,
          quote: fixedPrice,
          stateFile,
          onError: (error) => errors.push(error),
          ...options,
          chains: { [CHAIN_ID]: { ...terms, pollIntervalMs: POLL_MS, ...limits }, ...options.chains },
        },
        own,
      )
      const incarnation: Incarnation = { solver, node, clock: own, errors, progress: 'starting' }
      solver.start().then(
        () => {
          incarnation.progress = 'started'
        },
        (error) => {
          errors.push(error)
          incarnation.progress = 'failed'
        },
      )
      return incarnation
    },
    /** Mines blocks, each in the middle of its seconds. */
    async passBlocks(count: number, seconds = 2, options: { holdsSigned?: boolean } = {}): Promise<void> {
      for (let block = 0; block < count; block++) {
        await clock.advance(seconds * 500)
        chain.mine(chain.head().timestamp + seconds, options)
        await clock.advance(seconds * 500)
      }
    },
    /** Ends a solver as `kill -9` does: nothing of it goes on, and the state file is what it was. */
    kill({ node, clock: own }: Incarnation): void {
      node.setState('silent')
      own.kill()
      const copy = temporaryFile()
      for (const suffix of ['', '-wal'])
        if (existsSync(stateFile + suffix)) copyFileSync(stateFile + suffix, copy + suffix)
      stateFile = copy
    },
  }
}
