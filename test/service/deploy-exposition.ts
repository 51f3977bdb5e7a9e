/** Metrics as Prometheus reads them: the label values by name. */
export type Exposition = ReadonlyMap<string, ReadonlyMap<string, ReadonlySet<string>>>

const SAMPLE = /^([a-zA-Z_:][\w:]*)(?:\{(.*)\})? /
const LABEL = /(\w+)="((?:[^"\\]|\\.)*)"/g

/** Reads Prometheus's text format. */
export function readExposition(text: string): Exposition {
  const metrics = new Map<string, Map<string, Set<string>>>()
  for (const line of text.split('\n')) {
    const [, name, labels = ''] = SAMPLE.exec(line) ?? []
    if (name === undefined) continue
    const known = metrics.get(name) ?? new Map<string, Set<string>>()
    metrics.set(name, known)
    for (const [, label = '', value = ''] of labels.matchAll(LABEL)) {
      known.set(label, (known.get(label) ?? new Set()).add(value))
    }
  }
  return metrics
}
