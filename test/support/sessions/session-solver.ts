import type { LocalAccount } from 'viem'
import type { TestChain } from '../chain/chain.js'
import { createQuoteSigner, type SolverRequest, type WireReply } from '../solvers/solver.js'
import {
  messageOf,
  type SessionConnection,
  type SessionMessage,
  type SessionTransport,
  webSocket,
} from './session-connections.js'

/** What a hello says; all of it is signed but `events`. */
export interface HelloOptions {
  readonly name?: string
  readonly audience: string
  readonly chainIds: readonly number[]
  readonly events?: { readonly after?: string }
}

/** The text that a solver signs for a session (docs/decisions.md, D18). */
export function sessionText(
  account: Pick<LocalAccount, 'address'>,
  { name = 'A solver', audience, chainIds }: HelloOptions,
  nonce: string,
): string {
  return [
    'Service Solver Session',
    `Address: ${account.address.toLowerCase()}`,
    `Name: ${name}`,
    `Audience: ${audience}`,
    `Chains: ${[...chainIds].sort((one, other) => one - other).join(',')}`,
    `Challenge: ${nonce}`,
  ].join('\n')
}

/** A hello that answers a challenge. */
export async function signedHello(
  account: LocalAccount,
  options: HelloOptions,
  nonce: string,
): Promise<SessionMessage> {
  const { name = 'A solver', ...fields } = options
  const signature = await account.signMessage({ message: sessionText(account, options, nonce) })
  return { type: 'hello', address: account.address, name, ...fields, signature }
}

/** Answers a quote request; undefined is no answer. */
export type SessionBehaviour = (
  ask: SolverRequest & { readonly id: string },
  solver: ReturnType<typeof createQuoteSigner>,
) => Promise<SessionMessage | undefined>

/** Offers `output` for EXACT_INPUT. */
export function offering(output: string): SessionBehaviour {
  return async (ask, { quoteFor, sign }) => {
    const reply: WireReply = await sign({ ...quoteFor(ask), outputAmount: output })
    return { type: 'quote', id: ask.id, ...reply }
  }
}

export const silent: SessionBehaviour = async () => undefined

interface SessionSolverOptions extends Partial<HelloOptions> {
  readonly transport?: SessionTransport
  readonly behaviour?: SessionBehaviour
  /** Whether it answers pings; true by default. */
  readonly answersPings?: boolean
  /** See `ConnectOptions`. */
  readonly forwardedFor?: string
}

/** No two sessions of a process use the same nonce. */
const NONCES = 1_000_000
let opened = 0

export type SessionSolver = Awaited<ReturnType<typeof openSession>>

/** Opens a session, and answers pings and quote requests on it. It expects `ready`. */
export async function openSession(
  serviceUrl: string,
  chain: Pick<TestChain, 'chainId' | 'domain'>,
  account: LocalAccount,
  {
    transport = webSocket,
    behaviour = offering('1000'),
    answersPings = true,
    forwardedFor,
    ...hello
  }: SessionSolverOptions = {},
) {
  const signer = createQuoteSigner(chain, account, ++opened * NONCES)
  let current = behaviour
  const connection: SessionConnection = transport.connect(serviceUrl, { onMessage, forwardedFor })
  function onMessage(message: SessionMessage): void {
    if (message.type === 'ping' && answersPings) connection.send({ type: 'pong', id: message.id })
    if (message.type !== 'quoteRequest') return
    const ask = message as SessionMessage & SolverRequest & { readonly id: string }
    void current(ask, signer).then((answer) => answer && connection.send(answer))
  }
  const refused = connection.ended.then((end) => {
    throw new Error(`no session: ${JSON.stringify(end)}`)
  })
  const { nonce } = await Promise.race([messageOf(connection, 'challenge'), refused])
  const options = { audience: serviceUrl, chainIds: [chain.chainId], ...hello }
  connection.send(await signedHello(account, options, nonce))
  const ready = await Promise.race([messageOf(connection, 'ready'), refused])
  return {
    ...connection,
    account,
    ready,
    next: (type: string, index?: number) => messageOf(connection, type, index),
    count: (type: string) => connection.messages.filter((message) => message.type === type).length,
    behave(next: SessionBehaviour) {
      current = next
    },
  }
}
