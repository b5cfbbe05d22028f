import type { HostItemOf } from '../../../model/host-item.ts'
import type { Change } from '../../../model/resource.ts'
import { type Command, run } from '../command.ts'
import { change, fileWord, type ItemRules, restoreFile } from '../item.ts'

/** Each version has its own folder here, and a link selects one: the previous version stays. */
const STORE = '/opt/croft'

/**
 * A program or an archive from an address, accepted by its checksum alone. The download goes to a folder for its
 * version; then the link is switched atomically, so that users run the old or the new one.
 */
export const fetch: ItemRules<'fetch'> = {
  type: 'fetch',
  asks: (item) => {
    const { target, proof } = placesOf(item)
    return [{ ask: 'file', path: item.name }, { ask: 'file', path: target }, proof]
  },
  diff(item, seen) {
    const { name, spec } = item
    const link = seen.file(name)
    if (spec.absent === true) return link.kind === 'absent' ? [] : [change('link', link.target || link.kind, null)]
    const { target, proof } = placesOf(item)
    const changes: Change[] = []
    const kept = seen.file(proof.path)
    if (kept.kind !== 'file' || kept.sha256 !== proof.sha256 || seen.file(target).kind === 'absent')
      changes.push(change('content', null, `${spec.url} (sha256 ${spec.sha256.slice(0, 12)}…)`))
    if (link.kind !== 'link' || link.target !== target)
      changes.push(
        change('link', link.kind === 'link' ? link.target : link.kind === 'absent' ? null : link.kind, target),
      )
    return changes
  },
  commands(item, _seen, changes) {
    const { name, spec } = item
    if (spec.absent === true) return [{ do: 'remove', path: name }]
    const { folder, target } = placesOf(item)
    const fetched = changes.some(({ path }) => path === 'content')
    return [
      ...(fetched ? [fetching(folder, spec)] : []),
      run('mkdir', '-p', '--', name.slice(0, Math.max(1, name.lastIndexOf('/')))),
      run('ln', '-sfnT', '--', target, name),
    ]
  },
  undo(item, seen) {
    const { folder, proof } = placesOf(item)
    const back = restoreFile(item.name, seen.file(item.name))
    // A version from before stays: others may use it.
    if (back === undefined || seen.file(proof.path).kind !== 'absent') return back
    return [...back, item.spec.archive === true ? run('rm', '-rf', '--', folder) : { do: 'remove', path: proof.path }]
  },
}

function placesOf({ name, spec }: HostItemOf<'fetch'>) {
  const program = fileWord(name.slice(name.lastIndexOf('/') + 1))
  const folder = `${STORE}/${program}/${spec.version ?? spec.sha256.slice(0, 12)}`
  if (spec.archive !== true) {
    const target = `${folder}/${program}`
    return { folder, target, proof: { ask: 'file', path: target, sha256: spec.sha256 } as const }
  }
  const target = spec.member === undefined ? `${folder}/content` : `${folder}/content/${spec.member}`
  return { folder, target, proof: { ask: 'file', path: `${folder}/archive`, sha256: spec.sha256 } as const }
}

/** Constant text; a person's text comes only as words after it. */
const PROGRAM = `set -eu; umask 022
folder=$1; url=$2; sum=$3; kind=$4; mode=$5; name=$6
mkdir -p -- "$folder"; t=$(mktemp -d -- "$folder/.croft.XXXXXXXX"); trap 'rm -rf -- "$t"' EXIT
case $url in
  file:*) cp -- "${'$'}{url#file:}" "$t/got" ;;
  *) if command -v curl >/dev/null; then curl -fsSL --retry 3 --proto =http,https --proto-redir =http,https -o "$t/got" -- "$url"
     elif command -v wget >/dev/null; then wget -q -O "$t/got" -- "$url"
     elif command -v python3 >/dev/null; then python3 -c 'import shutil,sys,urllib.request as u; shutil.copyfileobj(u.urlopen(sys.argv[1], timeout=60), open(sys.argv[2], "wb"))' "$url" "$t/got"
     else echo 'neither curl, wget nor python3 is there: declare the package curl'; exit 4; fi ;;
esac
is=$(sha256sum <"$t/got"); is=${'$'}{is%% *}
[ "$is" = "$sum" ] || { echo "what $url gives has the checksum $is, and $sum is declared"; exit 3; }
if [ "$kind" = program ]; then chmod -- "$mode" "$t/got"; mv -fT -- "$t/got" "$folder/$name"; exit 0; fi
mkdir "$t/content"
case $url in
  *.zip) if command -v unzip >/dev/null; then unzip -q "$t/got" -d "$t/content"; else python3 -m zipfile -e "$t/got" "$t/content"; fi ;;
  *) tar -xf "$t/got" -C "$t/content" --no-same-owner ;;
esac
rm -rf -- "$folder/content"; mv -T -- "$t/content" "$folder/content"; mv -fT -- "$t/got" "$folder/archive"
`

function fetching(folder: string, spec: HostItemOf<'fetch'>['spec']): Command {
  const program = folder.slice(STORE.length + 1).split('/')[0] ?? ''
  const mode = (spec.mode ?? 0o755).toString(8).padStart(4, '0')
  const kind = spec.archive === true ? 'archive' : 'program'
  return {
    do: 'run',
    argv: ['sh', '-c', PROGRAM, 'sh', folder, spec.url, spec.sha256, kind, mode, program],
    timeoutMs: 900_000,
  }
}
