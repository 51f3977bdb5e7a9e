import { type ResourceLimits, Worker } from 'node:worker_threads'

/**
 * Starts a thread of the service from a compiled module, or from its TypeScript source where the service runs from that: threads do
 * not inherit the TypeScript loader of the main thread.
 * @param module the URL of the compiled module; its source is beside it, with the ending `.ts`
 */
export function startThread(module: URL, workerData: unknown, resourceLimits: ResourceLimits = {}): Worker {
  if (!import.meta.url.endsWith('.ts')) return new Worker(module, { workerData, resourceLimits })
  const source = module.href.replace(/\.js$/, '.ts')
  const script = `import('tsx/esm/api').then(({ register }) => (register(), import('${source}')))`
  return new Worker(script, { eval: true, workerData, resourceLimits })
}
