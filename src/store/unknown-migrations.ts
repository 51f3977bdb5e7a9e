/**
 * Why this version cannot use a database, because it does not know one of its migrations. The text continues a sentence about
 * the database.
 * @param applied the names of its applied migrations
 * @param migrations those of this version by name, the first one first
 * @returns undefined when it knows all of them
 */
export function unknownMigrations(
  applied: readonly string[],
  migrations: Readonly<Record<string, unknown>>,
): string | undefined {
  const unknown = applied.filter((name) => migrations[name] === undefined)
  if (unknown.length === 0) return undefined
  const [initial = ''] = Object.keys(migrations)
  return applied.includes(initial)
    ? `was written by a newer version, with ${unknown.join(', ')}: run that version, or restore the backup made before the upgrade`
    : 'is from before the first release, and no version migrates it: use an empty database'
}
