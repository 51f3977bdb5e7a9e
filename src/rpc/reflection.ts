import {
  createRegistry,
  type DescExtension,
  type DescFile,
  type DescService,
  type Registry,
  toBinary,
} from '@bufbuild/protobuf'
import { FileDescriptorProtoSchema } from '@bufbuild/protobuf/wkt'
import { Code, type ConnectRouter, type HandlerContext, type Interceptor } from '@connectrpc/connect'
import { file_google_rpc_error_details } from '../../gen/google/rpc/error_details_pb.js'
import { file_google_rpc_status } from '../../gen/google/rpc/status_pb.js'
import { ServerReflection } from '../../gen/grpc/reflection/v1/reflection_pb.js'
import { ServerReflection as ServerReflectionV1Alpha } from '../../gen/grpc/reflection/v1alpha/reflection_pb.js'

/** A query, in both versions of the protocol. */
type ReflectionQuery =
  | {
      case: 'fileByFilename' | 'fileContainingSymbol' | 'allExtensionNumbersOfType' | 'listServices'
      value: string
    }
  | { case: 'fileContainingExtension'; value: { containingType: string; extensionNumber: number } }
  | { case: undefined; value?: undefined }

/** A response, in both versions of the protocol. */
type ReflectionResponse =
  | { case: 'fileDescriptorResponse'; value: { fileDescriptorProto: Uint8Array[] } }
  | { case: 'allExtensionNumbersResponse'; value: { baseTypeName: string; extensionNumber: number[] } }
  | { case: 'listServicesResponse'; value: { service: { name: string }[] } }
  | { case: 'errorResponse'; value: { errorCode: number; errorMessage: string } }

/** The files of error details (`google.rpc.Status` with `ErrorInfo` and others). Clients show these, but no service imports them. */
const ERROR_FILES = [file_google_rpc_status, file_google_rpc_error_details]

type RegisteredType = NonNullable<ReturnType<Registry['get']>>

/** Server reflection of one server. */
export interface Reflection {
  /** Adds both versions of the service to a Connect router. */
  readonly routes: (router: ConnectRouter) => void
  /** Ends the streams on which callers may send more queries. */
  drain(): void
}

/**
 * Builds gRPC server reflection, v1 and v1alpha, over the descriptors of a server. Generic clients such as grpcurl, Postman
 * and `buf curl` then need no files.
 * @param services all services of the server, without reflection
 * @param interceptors of the two reflection services
 */
export function createReflection(
  services: readonly DescService[],
  interceptors: readonly Interceptor[] = [],
): Reflection {
  const respond = createResponder([...services, ServerReflection, ServerReflectionV1Alpha])
  const endings = new Set<() => void>()

  async function* respondAll<Request extends { host: string; messageRequest: ReflectionQuery }>(
    requests: AsyncIterable<Request>,
    { signal }: HandlerContext,
  ) {
    const iterator = requests[Symbol.asyncIterator]()
    let end = () => {}
    const drained = new Promise<IteratorReturnResult<undefined>>((resolve) => {
      end = () => resolve({ done: true, value: undefined })
    })
    endings.add(end)
    // When a client leaves while a response waits for it to read, this generator stays suspended and skips `finally`.
    signal.addEventListener('abort', () => endings.delete(end))
    try {
      for (;;) {
        const { done, value: request } = await Promise.race([iterator.next(), drained])
        if (done) return
        const messageResponse = respond(request.messageRequest)
        yield { validHost: request.host, originalRequest: request, messageResponse }
      }
    } finally {
      endings.delete(end)
    }
  }

  return {
    routes(router) {
      const options = { interceptors: [...interceptors] }
      router.service(ServerReflection, { serverReflectionInfo: respondAll }, options)
      router.service(ServerReflectionV1Alpha, { serverReflectionInfo: respondAll }, options)
    },
    drain() {
      for (const end of endings) end()
    },
  }
}

/** Builds the function that responds to a query of the reflection protocol. */
export function createResponder(
  services: readonly DescService[],
): (query: ReflectionQuery) => ReflectionResponse {
  const files = withImports([...services.map(({ file }) => file), ...ERROR_FILES])
  const registry = createRegistry(...files)
  const byName = new Map(files.map((file) => [fileName(file), file]))
  const names = services.map(({ typeName }) => typeName).toSorted()

  return (query) => {
    switch (query.case) {
      case 'listServices':
        return { case: 'listServicesResponse', value: { service: names.map((name) => ({ name })) } }
      case 'fileByFilename':
        return toFiles(byName.get(query.value), query.value)
      case 'fileContainingSymbol':
        return toFiles(fileOfSymbol(registry, query.value), query.value)
      case 'fileContainingExtension': {
        const { containingType, extensionNumber } = query.value
        const found = extensionsOf(files, containingType).find(({ number }) => number === extensionNumber)
        return toFiles(found?.file, `extension ${extensionNumber} of ${containingType}`)
      }
      case 'allExtensionNumbersOfType': {
        if (registry.getMessage(query.value) === undefined) return notFound(query.value)
        const extensionNumber = extensionsOf(files, query.value).map(({ number }) => number)
        return {
          case: 'allExtensionNumbersResponse',
          value: { baseTypeName: query.value, extensionNumber },
        }
      }
      case undefined:
        return toError(Code.InvalidArgument, 'The request must have a query that this server supports.')
    }
  }
}

/** The files, each followed by its imports, without repetition. */
function withImports(files: readonly DescFile[], seen = new Set<DescFile>()): DescFile[] {
  return files.flatMap((file) => {
    if (seen.has(file)) return []
    seen.add(file)
    return [file, ...withImports(file.dependencies, seen)]
  })
}

/** The name by which other files import a file. */
function fileName(file: DescFile): string {
  return file.proto.name
}

/** The file of a package's type, service, method, field or enum value. */
function fileOfSymbol(registry: Registry, symbol: string): DescFile | undefined {
  const found = registry.get(symbol)
  if (found !== undefined) return found.file
  const end = symbol.lastIndexOf('.')
  const scope = symbol.slice(0, Math.max(end, 0))
  const member = symbol.slice(end + 1)
  const parents = [...registry].filter(
    (parent) => parent.typeName === scope || valueScopeOf(parent) === scope,
  )
  return parents.find((parent) => membersOf(parent).includes(member))?.file
}

/** In Protobuf, the full name of an enum value has the scope of its enum, without the enum's name. */
function valueScopeOf(type: RegisteredType): string | undefined {
  return type.kind === 'enum' ? (type.parent?.typeName ?? type.file.proto.package) : undefined
}

function membersOf(parent: RegisteredType): readonly string[] {
  switch (parent.kind) {
    case 'service':
      return parent.methods.map(({ name }) => name)
    case 'message':
      return [...parent.fields, ...parent.oneofs].map(({ name }) => name)
    case 'enum':
      return parent.values.map(({ name }) => name)
    case 'extension':
      return []
  }
}

function extensionsOf(files: readonly DescFile[], typeName: string): readonly DescExtension[] {
  return files
    .flatMap(({ extensions }) => extensions)
    .filter(({ extendee }) => extendee.typeName === typeName)
}

function toFiles(file: DescFile | undefined, query: string): ReflectionResponse {
  if (file === undefined) return notFound(query)
  const fileDescriptorProto = withImports([file]).map(({ proto }) =>
    toBinary(FileDescriptorProtoSchema, proto),
  )
  return { case: 'fileDescriptorResponse', value: { fileDescriptorProto } }
}

function notFound(query: string): ReflectionResponse {
  return toError(Code.NotFound, `This server has no ${query}.`)
}

function toError(errorCode: Code, errorMessage: string): ReflectionResponse {
  return { case: 'errorResponse', value: { errorCode, errorMessage } }
}
