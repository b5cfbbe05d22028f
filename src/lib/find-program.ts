import { constants } from 'node:fs'
import { access } from 'node:fs/promises'
import path from 'node:path'

/** The file behind a program: by its whole path, or by its name in PATH. Folders that are not whole paths do not count. */
export async function findProgram(
  name: string,
  env: Readonly<Record<string, string | undefined>>,
): Promise<string | undefined> {
  const places = name.includes('/') ? [name] : (env.PATH ?? '').split(':').map((folder) => path.join(folder, name))
  for (const place of places.filter((one) => path.isAbsolute(one))) {
    const usable = await access(place, constants.X_OK).then(
      () => true,
      () => false,
    )
    if (usable) return place
  }
  return undefined
}
