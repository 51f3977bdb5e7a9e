import { execFile } from 'node:child_process'
import { resolve } from 'node:path'
import { fromBinary } from '@bufbuild/protobuf'
import { type FileDescriptorProto, FileDescriptorProtoSchema } from '@bufbuild/protobuf/wkt'
import { credentials, loadPackageDefinition, type ServiceError } from '@grpc/grpc-js'
import { loadSync } from '@grpc/proto-loader'

export const VERSIONS = ['v1', 'v1alpha'] as const
export type ReflectionVersion = (typeof VERSIONS)[number]

/** A request of the protocol, in camel case. */
export interface ReflectionQuestion {
  host?: string
  fileByFilename?: string
  fileContainingSymbol?: string
  fileContainingExtension?: { containingType: string; extensionNumber: number }
  allExtensionNumbersOfType?: string
  listServices?: string
}

// biome-ignore lint/suspicious/noExplicitAny: proto-loader's clients have no static types
type Untyped = any

const BUF = resolve('node_modules/.bin/buf')
const BUF_TIMEOUT_MS = 20_000

/** One reflection stream, read with the protocol's own file and none of this project's code. */
export function openReflection(serviceUrl: string, version: ReflectionVersion = 'v1') {
  const definition = loadSync(`grpc/reflection/${version}/reflection.proto`, {
    includeDirs: ['node_modules/@grpc/reflection/build/proto'],
    oneofs: true,
  })
  const { ServerReflection } = (loadPackageDefinition(definition) as Untyped).grpc.reflection[version]
  const client = new ServerReflection(new URL(serviceUrl).host, credentials.createInsecure())
  const stream = client.ServerReflectionInfo()
  const answers = stream[Symbol.asyncIterator]()

  /** Rejects with grpc-js's ServiceError when the stream fails or ends without a response. */
  async function next(): Promise<Untyped> {
    const { done, value } = await answers.next()
    if (done) throw new Error('the stream has ended')
    return value
  }

  async function ask(question: ReflectionQuestion): Promise<Untyped> {
    stream.write(question)
    return next()
  }

  return {
    ask,
    send: (question: ReflectionQuestion) => void stream.write(question),
    next,
    /** The files of a response, in their order. */
    async askFiles(question: ReflectionQuestion): Promise<FileDescriptorProto[]> {
      const { fileDescriptorResponse, errorResponse } = await ask(question)
      if (fileDescriptorResponse === undefined) throw new Error(errorResponse?.errorMessage ?? 'no files')
      return fileDescriptorResponse.fileDescriptorProto.map((file: Uint8Array) =>
        fromBinary(FileDescriptorProtoSchema, file),
      )
    },
    /** Ends the requests. @returns whether the stream then ended well */
    async end(): Promise<boolean> {
      stream.end()
      return answers.next().then(
        ({ done }: Untyped) => done === true,
        (_error: ServiceError) => false,
      )
    },
    close: () => client.close(),
  }
}

/** Runs `buf curl` in a folder that has none of the protos. @returns its output and its exit code */
export function runBufCurl(folder: string, args: readonly string[]) {
  return new Promise<{ code: number; stdout: string; stderr: string }>((done) => {
    const options = {
      cwd: folder,
      env: { PATH: process.env.PATH, HOME: folder },
      timeout: BUF_TIMEOUT_MS,
    }
    execFile(BUF, ['curl', ...args], options, (error, stdout, stderr) => {
      const code = error === null ? 0 : typeof error.code === 'number' ? error.code : -1
      done({ code, stdout, stderr })
    })
  })
}
