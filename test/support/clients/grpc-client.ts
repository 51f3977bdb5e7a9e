import { credentials, loadPackageDefinition, type ServiceError } from '@grpc/grpc-js'
import { loadSync } from '@grpc/proto-loader'

const PROTO_FILES = ['quote', 'solver', 'order', 'event', 'chain'].map(
  (name) => `aggregator/v1/${name}.proto`,
)

// biome-ignore lint/suspicious/noExplicitAny: proto-loader's clients have no static types, which is their point here
type Untyped = any

/** A gRPC client made from the .proto files at run time, with none of this project's code. */
export function createGrpcClient(serviceUrl: string) {
  const definition = loadSync(PROTO_FILES, {
    includeDirs: ['proto'],
    longs: Number,
    enums: String,
    defaults: true,
  })
  const { aggregator } = loadPackageDefinition(definition) as Untyped
  const target = new URL(serviceUrl).host
  const clients: Record<string, Untyped> = {}

  return {
    /** Calls a unary method. Rejects with grpc-js's ServiceError. */
    call(service: string, method: string, request: object, options: object = {}): Promise<Untyped> {
      clients[service] ??= new aggregator.v1[service](target, credentials.createInsecure())
      return new Promise((resolve, reject) => {
        clients[service][method](request, options, (error: ServiceError | null, answer: Untyped) =>
          error === null ? resolve(answer) : reject(error),
        )
      })
    },
    close() {
      for (const client of Object.values(clients)) client.close()
    },
  }
}
