import { startGitServer } from '../../src/controller/testing/git-server.ts'

/** The server of the repositories that pages name: started by a reader in its own network. The argument is its directory. */
await startGitServer(process.argv[2] ?? '.', undefined, 'git.example')
