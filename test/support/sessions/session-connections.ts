import { findTrailerError } from '@connectrpc/connect/protocol-grpc'
import {
  Client,
  credentials,
  type GrpcObject,
  loadPackageDefinition,
  type ServiceClientConstructor,
  type ServiceError,
} from '@grpc/grpc-js'
import { loadSync } from '@grpc/proto-loader'
import { WebSocket } from 'ws'
import { ErrorInfoSchema } from '../../../gen/google/rpc/error_details_pb.js'
import { eventually } from '../eventually.js'

/** A message of a session as JSON: `type`, and the fields of that message. */
export interface SessionMessage {
  readonly type: string
  // biome-ignore lint/suspicious/noExplicitAny: tests look into messages of many shapes
  readonly [field: string]: any
}

/** How a connection ended. */
export interface SessionEnd {
  /** Code of a WebSocket's close frame, or of a gRPC status. */
  readonly code: number
  /** Text of either. */
  readonly text: string
  /** Reason of the error; undefined when there was none. */
  readonly reason: string | undefined
}

/** One connection of a solver, on any transport. */
export interface SessionConnection {
  /** All messages so far. */
  readonly messages: readonly SessionMessage[]
  readonly ended: Promise<SessionEnd>
  send(message: SessionMessage): void
  /** Sends a message as it is; WebSocket only. */
  sendText?(text: string): void
  /** Reads nothing any more. */
  pause(): void
  leave(): void
}

interface ConnectOptions {
  readonly onMessage?: (message: SessionMessage) => void
  /** The address for which a proxy forwards the connection; WebSocket only. */
  readonly forwardedFor?: string | undefined
}

export interface SessionTransport {
  readonly name: 'websocket' | 'grpc'
  connect(serviceUrl: string, options?: ConnectOptions): SessionConnection
}

/** Waits for the message at `index` among those of a type; the first one by default. */
export async function messageOf(
  { messages }: Pick<SessionConnection, 'messages'>,
  type: string,
  index = 0,
): Promise<SessionMessage> {
  const ofType = async () => messages.filter((message) => message.type === type)
  return (await eventually(ofType, (found) => found.length > index))[index] as SessionMessage
}

export const webSocket: SessionTransport = {
  name: 'websocket',
  connect(serviceUrl, { onMessage = () => {}, forwardedFor } = {}) {
    const headers = forwardedFor === undefined ? {} : { 'x-forwarded-for': forwardedFor }
    const socket = new WebSocket(`${serviceUrl.replace('http', 'ws')}/v1/solvers/session`, { headers })
    const messages: SessionMessage[] = []
    socket.on('message', (data) => {
      const message = JSON.parse(String(data))
      messages.push(message)
      onMessage(message)
    })
    const ended = new Promise<SessionEnd>((resolve) => {
      // A refusal before the upgrade.
      socket.on('unexpected-response', async (_request, response) => {
        const body = JSON.parse((await response.setEncoding('utf8').toArray()).join(''))
        resolve({ code: response.statusCode ?? 0, text: body.error, reason: body.code })
      })
      socket.on('error', () => {})
      socket.on('close', (code, text) => {
        const reason = messages.find(({ type }) => type === 'error')?.code
        resolve({ code, text: String(text), reason })
      })
    })
    return {
      messages,
      ended,
      send: (message) => socket.send(JSON.stringify(message)),
      sendText: (text) => socket.send(text),
      pause: () => socket.pause(),
      leave: () => socket.terminate(),
    }
  },
}

/** A response of OpenSession as proto-loader has it. */
interface GrpcResponse {
  readonly message: string
  readonly [field: string]: unknown
}

const solverService = loadService()

export const grpc: SessionTransport = {
  name: 'grpc',
  connect(serviceUrl, { onMessage = () => {} } = {}) {
    const client = new Client(new URL(serviceUrl).host, credentials.createInsecure())
    const { path, requestSerialize, responseDeserialize } = solverService
    const call = client.makeBidiStreamRequest(path, requestSerialize, responseDeserialize)
    const messages: SessionMessage[] = []
    call.on('data', (response: GrpcResponse) => {
      const message = { type: response.message, ...withPlainEnums(response[response.message] as object) }
      messages.push(message)
      onMessage(message)
    })
    const ended = new Promise<SessionEnd>((resolve) => {
      call.on('error', (error: ServiceError) => {
        const { code, details } = error
        resolve({ code, text: details, reason: reasonOf(error) })
      })
      call.on('end', () => resolve({ code: 0, text: '', reason: undefined }))
    })
    void ended.then(() => client.close())
    return {
      messages,
      ended,
      send: ({ type, ...fields }) => void call.write({ [type]: fields }),
      pause: () => void call.pause(),
      leave: () => call.cancel(),
    }
  },
}

export const transports = [webSocket, grpc]

function reasonOf({ metadata }: ServiceError): string | undefined {
  const details = metadata.get('grpc-status-details-bin')[0]
  if (!Buffer.isBuffer(details)) return undefined
  const trailer = new Headers({ 'grpc-status': '2', 'grpc-status-details-bin': details.toString('base64') })
  return findTrailerError(trailer)?.findDetails(ErrorInfoSchema)[0]?.reason
}

/** The enums of these messages by the prefix of their values. */
const PREFIX = /^(QUOTE_KIND|ORDER_TYPE|DEPOSIT_MODE|SOLVER_OUTCOME)_/

function withPlainEnums(fields: object): object {
  return Object.fromEntries(
    Object.entries(fields).map(([name, value]) => [
      name,
      typeof value === 'string' ? value.replace(PREFIX, '') : value,
    ]),
  )
}

/** OpenSession of the .proto file, with none of this project's code. */
function loadService() {
  const definition = loadSync('aggregator/v1/solver.proto', {
    includeDirs: ['proto'],
    longs: Number,
    enums: String,
    defaults: true,
    oneofs: true,
  })
  const { aggregator } = loadPackageDefinition(definition)
  const { SolverService: service } = (aggregator as GrpcObject).v1 as Record<string, ServiceClientConstructor>
  const method = service?.service.OpenSession
  if (method === undefined) throw new Error('the .proto file has no OpenSession')
  return method
}
