import { connect, createServer, type Socket } from 'node:net'
import { deferred } from '../deferred.js'
import { listen } from '../listen.js'

export type DatabaseLink = Awaited<ReturnType<typeof startDatabaseLink>>

/**
 * What is held, by a text. Of messages from other replicas: those with the text. Of statements: those of a
 * connection from the first one with the text on, or the server's answers to these. Or everything on all
 * connections from that statement on, as if the replica's machine had stopped.
 */
type Kind = 'notifications' | 'statements' | 'answers' | 'everything'

/** Holds something until it is released. */
interface Hold {
  readonly kind: Kind
  readonly text: string
  readonly valve: Valve
  onReached(): void
}

/**
 * A message by which PostgreSQL's server passes on a notification of another connection
 * (`NotificationResponse`).
 */
const NOTIFICATION = 'A'.charCodeAt(0)
const HEADER_BYTES = 5

/**
 * One replica's connection to PostgreSQL, without TLS, which a test can cut, or on which it can hold
 * messages.
 */
export async function startDatabaseLink(databaseUrl: string) {
  const { hostname, port } = new URL(databaseUrl)
  const sockets = new Set<Socket>()
  const holds = new Set<Hold>()
  const everything = createValve()
  let isCut = false

  /** @returns the hold of such a kind that a message starts, or that applies to it */
  function reach(kind: Kind, message: Buffer): Hold | undefined {
    const hold = [...holds].find((one) => one.kind === kind && message.includes(one.text))
    hold?.onReached()
    return hold
  }

  function join(client: Socket, server: Socket): void {
    let statements: Valve | undefined
    let answers: Valve | undefined
    const pass = (valve: Valve | undefined, action: () => void) =>
      everything.pass(() => (valve === undefined ? action() : valve.pass(action)))

    client.on('data', (chunk) => {
      if (reach('everything', chunk)) everything.shut()
      statements = reach('statements', chunk)?.valve ?? statements
      answers = reach('answers', chunk)?.valve ?? answers
      pass(statements, () => server.write(chunk))
    })
    readMessages(server, (message) => {
      const isNotification = message[0] === NOTIFICATION
      const valve = isNotification ? reach('notifications', message)?.valve : undefined
      pass(valve ?? answers, () => client.write(message))
    })
    client.on('close', () => everything.pass(() => server.destroy()))
    server.on('close', () => everything.pass(() => client.destroy()))
  }

  const proxy = createServer((client) => {
    if (isCut) return void client.destroy()
    const server = connect(Number(port), hostname)
    for (const socket of [client, server]) {
      sockets.add(socket)
      socket.setNoDelay().on('error', () => {})
      socket.once('close', () => sockets.delete(socket))
    }
    join(client, server)
  })
  const url = new URL(databaseUrl)
  url.host = new URL((await listen(proxy)).url).host

  return {
    url: url.href,
    /** Breaks all connections, and accepts none. */
    cut() {
      isCut = true
      for (const socket of sockets) socket.destroy()
    },
    restore() {
      isCut = false
    },
    /**
     * Holds something from now on. @returns `reached` resolves at the first held message; `release` sends
     * them all on
     */
    hold(kind: Kind, text: string) {
      const reached = deferred()
      const valve = kind === 'everything' ? everything : createValve()
      const hold = { kind, text, valve, onReached: reached.open }
      if (kind !== 'everything') valve.shut()
      holds.add(hold)
      return {
        reached: reached.opened,
        release() {
          holds.delete(hold)
          valve.open()
        },
      }
    },
    close() {
      for (const socket of sockets) socket.destroy()
      proxy.close()
    },
  }
}

type Valve = ReturnType<typeof createValve>

/** Runs actions, or keeps them in their order until it is opened. */
function createValve() {
  let kept: (() => void)[] | undefined
  return {
    pass(action: () => void) {
      if (kept === undefined) action()
      else kept.push(action)
    },
    shut() {
      kept ??= []
    },
    open() {
      const actions = kept ?? []
      kept = undefined
      for (const action of actions) action()
    },
  }
}

/** Reads the messages of a PostgreSQL server one by one. */
function readMessages(server: Socket, onMessage: (message: Buffer) => void): void {
  let rest = Buffer.alloc(0)
  server.on('data', (chunk) => {
    rest = Buffer.concat([rest, chunk])
    while (rest.length >= HEADER_BYTES) {
      const length = 1 + rest.readUInt32BE(1)
      if (rest.length < length) return
      onMessage(rest.subarray(0, length))
      rest = rest.subarray(length)
    }
  })
}
