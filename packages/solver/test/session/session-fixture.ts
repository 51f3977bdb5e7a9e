import { expect, onTestFinished } from 'vitest'
import { only } from '../../../../test/support/only.js'
import { devAccounts } from '../../../cli/src/devnet/deploy.js'
import { createMetrics } from '../../src/monitoring.js'
import type { SessionAnswers, SessionError } from '../../src/session/session-connection.js'
import { openSolverSession } from '../../src/session/solver-session.js'
import type { IncomingRequest } from '../../src/session/wire-forms.js'
import type { SessionChange } from '../../src/solver-options.js'
import type { SolverParts } from '../../src/solver-parts.js'
import { type Message, manualTiming, type ServerConnection, startSessionServer } from './session-server.js'

export const account = devAccounts[2]

interface Changes {
  readonly answer?: SessionAnswers['answer']
  readonly account?: Pick<SolverParts['account'], 'address' | 'signMessage'>
  readonly random?: number
  /** The status of the answer to the upgrade, for an instance that does not take it. */
  readonly upgradeStatus?: number
}

/** A session of a solver with an instance that the test plays. */
export async function startSession({ random, upgradeStatus, ...changes }: Changes = {}) {
  const server = await startSessionServer(upgradeStatus)
  const timers = manualTiming(random)
  const losses: SessionError[] = []
  const errors: unknown[] = []
  const results: Message[] = []
  const asked: IncomingRequest[] = []
  const closing = new AbortController()
  const parts = {
    options: {
      aggregatorUrl: server.url,
      name: 'Cosmo',
      protocolName: 'Service',
      chains: { 31337: {}, 1: {} },
    },
    account: changes.account ?? account,
    metrics: createMetrics(),
    log: { info() {}, warn() {} },
    isDue: () => true,
    hooks: {
      onSession: (change: SessionChange) =>
        change.state === 'lost' && losses.push(change.error as SessionError),
    },
    onError: (error: unknown) => errors.push(error),
    signal: closing.signal,
    clock: timers.clock,
  }
  const answers = {
    async answer(request: IncomingRequest) {
      asked.push(request)
      return (await changes.answer?.(request)) ?? { decline: 'PAUSED' }
    },
    onResult: (result: Message) => void results.push(result),
  }
  const opening = openSolverSession(only<SolverParts>(parts), answers, timers.random)
  opening.opened.catch(() => {})
  const session = {
    start: opening.opened,
    async close(): Promise<void> {
      closing.abort()
      await opening.close()
    },
  }
  onTestFinished(async () => {
    server.close()
    await session.close()
  })

  /** The connection with this number, from 0, once it is there. */
  async function connection(index: number): Promise<ServerConnection> {
    await expect.poll(() => server.connections.length).toBeGreaterThan(index)
    return server.connections[index] as ServerConnection
  }

  /** The connection with this number, with an open session. */
  async function opened(index: number): Promise<ServerConnection> {
    const found = await connection(index)
    found.challenge()
    await expect.poll(() => found.received.length).toBe(1)
    found.accept()
    found.send({ type: 'ping', id: 'opened' })
    await expect.poll(() => found.received.length).toBe(2)
    return found
  }

  return { server, session, timers, losses, errors, results, asked, connection, opened }
}

/** What a connection receives after its opening. */
export const answersOn = (connection: ServerConnection): Message[] => connection.received.slice(2)

/** A quote request as an instance sends it. */
export const quoteRequest = (id: string, changes = {}) => ({
  type: 'quoteRequest',
  id,
  deadline: 1_795_267_587_305,
  kind: 'FIRM',
  inputToken: '0x9fE46736679d2D9a65F0992F2272dE9f3c7fa6e0',
  outputToken: '0xCf7Ed3AccA5a467e9e704C703E8D87F634fB0Fc9',
  orderType: 'EXACT_INPUT',
  amount: '1000000000000000000',
  userAddress: '0x70997970C51812dc3A010C7d01b50e0d17dc79C8',
  chainId: 31337,
  destinationChainId: 31337,
  depositMode: 'CONTRACT',
  depositDeadline: 1_795_268_187,
  fillDeadline: 1_795_268_192,
  ...changes,
})
