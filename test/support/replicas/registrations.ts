import { setTimeout as pause } from 'node:timers/promises'
import type { LocalAccount } from 'viem'
import { signedRegistration, signedUnregistration } from '../solvers/solver.js'
import type { Replica, ReplicaProcesses, ReplicaState } from './replica-processes.js'

export type Registrations = ReturnType<typeof startRegistrations>

/** A solver that registers, and its endpoint. */
export interface Applicant {
  readonly account: LocalAccount
  readonly endpointUrl: string
}

/** The result of one signed message. */
export interface Outcome {
  /** HTTP status. 0 when the connection broke. */
  readonly status: number
  readonly code: string | undefined
  readonly replica: number
  /** The state of that replica at that moment. */
  readonly state: ReplicaState
  /** Whether an earlier message of the same kind was not answered, and may have been accepted. */
  readonly isRepeated: boolean
  /** In milliseconds of `performance.now()`, as is the time of the answer. */
  readonly sentAt: number
  readonly at: number
}

/** The listed name of a solver. Undefined when it is not registered. */
type HealthStatus = string | undefined

const PAUSE_MS = 100
/** Longer than the database is down. */
const CONFIRM_MS = 20_000

/**
 * Solvers that register, register again with another name, and unregister, all the time and at random
 * replicas. Before each continues, every replica must list what was answered.
 */
export function startRegistrations(
  fleet: ReplicaProcesses,
  chainId: number,
  applicants: readonly Applicant[],
) {
  const path = `/v1/${chainId}/solvers`
  const outcomes: Outcome[] = []
  const lost: string[] = []
  let confirmed = 0
  let isStopping = false

  async function send({ account, endpointUrl }: Applicant, name: HealthStatus, isRepeated: boolean) {
    const replica = pickRunning(fleet)
    const message =
      name === undefined
        ? await signedUnregistration(account)
        : await signedRegistration(account, { endpointUrl, name })
    const sentAt = performance.now()
    const answer =
      name === undefined
        ? replica.delete(`${path}/${account.address}`, message)
        : replica.post(`${path}/register`, message)
    const { status, body } = await answer.catch(() => ({ status: 0, body: {} }))
    const at = performance.now()
    const { index, state } = replica
    outcomes.push({ status, code: body.code, replica: index, state: state(), isRepeated, sentAt, at })
    return status === 200 || (isRepeated && body.code === 'SOLVER_NOT_FOUND')
  }

  /** Sends messages until one is answered. Those before may have been accepted or not. */
  async function sendUntilAnswered(applicant: Applicant, name: HealthStatus): Promise<void> {
    let isRepeated = false
    while (!(await send(applicant, name, isRepeated))) {
      isRepeated = true
      await pause(PAUSE_MS)
    }
  }

  async function listedAt(replica: Replica, { account }: Applicant): Promise<HealthStatus> {
    const { body }: { body: { address: string; name: string }[] } = await replica.get(path)
    return body.find(({ address }) => address === account.address)?.name
  }

  async function isListedAt(replica: Replica, applicant: Applicant, name: HealthStatus): Promise<boolean> {
    const giveUpAt = performance.now() + CONFIRM_MS
    while (performance.now() < giveUpAt) {
      const listed = await listedAt(replica, applicant).catch(() => 'nobody there')
      // A replica that is down shows its list when it is back.
      if (listed === name && replica.state() === 'running') return true
      await pause(PAUSE_MS)
    }
    return false
  }

  async function request(applicant: Applicant, name: HealthStatus): Promise<void> {
    await sendUntilAnswered(applicant, name)
    const areListed = await Promise.all(fleet.replicas.map((replica) => isListedAt(replica, applicant, name)))
    if (areListed.includes(false)) lost.push(`${name ?? 'the removal'} of ${applicant.account.address}`)
    else confirmed++
  }

  async function apply(applicant: Applicant): Promise<void> {
    for (let round = 0; !isStopping; round++) {
      await request(applicant, `Solver ${2 * round}`)
      await request(applicant, `Solver ${2 * round + 1}`)
      if (!isStopping) await request(applicant, undefined)
    }
  }

  const applications = applicants.map(apply)

  return {
    /** All sent messages, in the order of their end. */
    outcomes: outcomes as readonly Outcome[],
    since: (start: number) => outcomes.filter(({ at }) => at >= start),
    /** The answered changes that not all replicas list. */
    lost: lost as readonly string[],
    /** How many answers are confirmed by the lists of all replicas. */
    confirmed: () => confirmed,
    /** Resolves when the last answers have been compared with the lists. */
    async stop(): Promise<void> {
      isStopping = true
      await Promise.all(applications)
    },
  }
}

function pickRunning(fleet: ReplicaProcesses): Replica {
  const running = fleet.replicas.filter(({ state }) => state() === 'running')
  const picked = running[Math.floor(Math.random() * running.length)]
  if (picked === undefined) throw new Error('no replica is running')
  return picked
}
