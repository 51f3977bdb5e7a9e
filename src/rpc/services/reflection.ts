import { createRegistry, type DescFile, type DescService, type Registry, toBinary } from '@bufbuild/protobuf'
import { FileDescriptorProtoSchema } from '@bufbuild/protobuf/wkt'
import { Code, type Interceptor } from '@connectrpc/connect'
import { file_google_rpc_error_details } from '../../../gen/google/rpc/error_details_pb.js'
import { file_google_rpc_status } from '../../../gen/google/rpc/status_pb.js'
import { ServerReflection } from '../../../gen/grpc/reflection/v1/reflection_pb.js'
import { ServerReflection as ServerReflectionV1Alpha } from '../../../gen/grpc/reflection/v1alpha/reflection_pb.js'
import type { AddService } from '../router.js'

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
  | { case: 'listServicesResponse'; value: { service: { name: string }[] } }
  | { case: 'errorResponse'; value: { errorCode: number; errorMessage: string } }

/** The files of error details (`google.rpc.Status` with `ErrorInfo` and others). Clients show these, but no service imports them. */
const ERROR_FILES = [file_google_rpc_status, file_google_rpc_error_details]

/**
 * Builds gRPC server reflection, v1 and v1alpha, over the descriptors of a server. Generic clients such as grpcurl, Postman
 * and `buf curl` then need no files.
 * @param services all services of the server, without reflection
 * @param interceptors of the two reflection services
 */
export function createReflection(
  services: readonly DescService[],
  interceptors: readonly Interceptor[] = [],
): AddService {
  const respond = createResponder([...services, ServerReflection, ServerReflectionV1Alpha])

  async function* respondAll<Request extends { host: string; messageRequest: ReflectionQuery }>(
    requests: AsyncIterable<Request>,
  ) {
    for await (const request of requests) {
      const messageResponse = respond(request.messageRequest)
      yield { validHost: request.host, originalRequest: request, messageResponse }
    }
  }

  return (router) => {
    const options = { interceptors: [...interceptors] }
    router.service(ServerReflection, { serverReflectionInfo: respondAll }, options)
    router.service(ServerReflectionV1Alpha, { serverReflectionInfo: respondAll }, options)
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
      case undefined:
        return toError(Code.InvalidArgument, 'The request must have a query that this server supports.')
      default:
        return toError(
          Code.Unimplemented,
          'This server has files with their imports, and no list of extensions.',
        )
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

/** The file of a service, of its method, or of a type. */
function fileOfSymbol(registry: Registry, symbol: string): DescFile | undefined {
  const found = registry.get(symbol)
  if (found !== undefined) return found.file
  const end = symbol.lastIndexOf('.')
  const service = registry.getService(symbol.slice(0, end))
  const hasMethod = service?.methods.some(({ name }) => name === symbol.slice(end + 1))
  return hasMethod ? service?.file : undefined
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
