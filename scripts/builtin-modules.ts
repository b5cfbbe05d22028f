import type { Plugin } from 'esbuild'

/**
 * Node's own modules, taken as they are. To `import` one makes Node read every property of it once, also those that
 * load more when they are read: web cryptography, promises of dns, a recursive watcher. That was a tenth of
 * the processor time with which a command begins.
 */
export function builtinModules(): Plugin {
  return {
    name: 'builtin-modules',
    setup(made) {
      made.onResolve({ filter: /^node:/ }, ({ path, kind }) =>
        kind === 'import-statement' ? { path, namespace: 'builtin', sideEffects: false } : undefined,
      )
      made.onLoad({ filter: /./, namespace: 'builtin' }, ({ path }) => ({ contents: moduleText(path) }))
    },
  }
}

/** Each name is pure, so that the bundle has only those that something uses. */
function moduleText(name: string): string {
  const names = Object.keys(process.getBuiltinModule(name) ?? {}).filter(
    (one) => one !== 'default' && /^[\w$]+$/.test(one),
  )
  return [
    `const it = process.getBuiltinModule(${JSON.stringify(name)})`,
    'const of = (name) => it[name]',
    'export default it',
    ...names.map((one) => `const $${one} = /* @__PURE__ */ of(${JSON.stringify(one)})`),
    `export { ${names.map((one) => `$${one} as ${one}`).join(', ')} }`,
  ].join('\n')
}
