import { type Client, type ClientReadableStream, credentials, makeClientConstructor } from '@grpc/grpc-js'
import { service } from 'grpc-health-check'

// biome-ignore lint/suspicious/noExplicitAny: the clients of a package definition have no static types
type Untyped = any

export type HealthClient = ReturnType<typeof createHealthClient>

/** A client of the standard gRPC health service over cleartext HTTP/2, with none of this project's code. */
export function createHealthClient(serviceUrl: string) {
  const HealthClient = makeClientConstructor(service, 'Health')
  const client: Client & Untyped = new HealthClient(new URL(serviceUrl).host, credentials.createInsecure())

  const call = (method: string, request: object): Promise<Untyped> =>
    new Promise((resolve, reject) => {
      client[method](request, (error: Error | null, answer: Untyped) =>
        error === null ? resolve(answer) : reject(error),
      )
    })

  return {
    /** Rejects with grpc-js's ServiceError. */
    check: async (name: string): Promise<string> => (await call('Check', { service: name })).status,
    /** The status by name. */
    async list(): Promise<Record<string, string>> {
      const { statuses } = await call('List', {})
      return Object.fromEntries(Object.entries<Untyped>(statuses).map(([name, { status }]) => [name, status]))
    },
    watch: (name: string) => readStatuses(client.Watch({ service: name })),
    close: () => client.close(),
  }
}

/** The statuses that a watcher gets, in order. */
function readStatuses(stream: ClientReadableStream<{ status: string }>) {
  const statuses: string[] = []
  const messages = stream[Symbol.asyncIterator]()
  return {
    /** All statuses so far. */
    statuses,
    /** The next status. Undefined when the stream ends well. Rejects when it fails. */
    async next(): Promise<string | undefined> {
      const { done, value } = await messages.next()
      if (done) return undefined
      statuses.push(value.status)
      return value.status
    },
    /** Whether the stream is still open. */
    isOpen: () => !stream.readableEnded && !stream.destroyed,
    cancel() {
      stream.once('error', () => {})
      stream.cancel()
    },
  }
}
