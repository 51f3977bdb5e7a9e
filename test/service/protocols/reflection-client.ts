import { execFile } from 'node:child_process'
import { resolve } from 'node:path'
import { credentials, loadPackageDefinition } from '@grpc/grpc-js'
import { loadSync } from '@grpc/proto-loader'

export const VERSIONS = ['v1', 'v1alpha'] as const
export type ReflectionVersion = (typeof VERSIONS)[number]

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
  async function ask(question: object): Promise<Untyped> {
    stream.write(question)
    const { done, value } = await answers.next()
    if (done) throw new Error('the stream has ended')
    return value
  }

  return { ask, close: () => client.close() }
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
