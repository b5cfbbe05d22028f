"""A day with proxmoxer: everything that people script against Proxmox, checked step by step. Ends with code 0 or a trace."""
import io
import sys
import time

from proxmoxer import ProxmoxAPI, ResourceException
from proxmoxer.tools import Tasks

host, port, token = sys.argv[1], int(sys.argv[2]), sys.argv[3]
user, name_value = token.split("!", 1)
token_name, token_value = name_value.split("=", 1)
pve = ProxmoxAPI(host, port=port, user=user, token_name=token_name, token_value=token_value, verify_ssl=False)


def done(upid, expect="OK"):
    status = Tasks.blocking_status(pve, upid, timeout=30, polling_interval=0.02)
    assert status is not None, f"{upid} does not end"
    assert status["exitstatus"] == expect, (status["exitstatus"], Tasks.decode_log(pve.nodes(status["node"]).tasks(upid).log.get()))


def until(what, check):
    for _ in range(500):
        if check():
            return
        time.sleep(0.02)
    raise AssertionError(f"never: {what}")


assert pve.version.get()["release"].startswith("9.")
nodes = sorted(node["node"] for node in pve.nodes.get())
assert len(nodes) == 3, nodes
node = pve.nodes("fun-bedbug")
assert {s["storage"] for s in node.storage.get()} == {"local", "local-zfs"}
image = next(v["volid"] for v in node.storage("local").content.get(content="import"))

# A guest from an image.
vmid = int(pve.cluster.nextid.get())
done(
    node.qemu.post(
        vmid=vmid, name="web", cores=2, memory=2048, agent=1, tags="web;prod", net0="virtio,bridge=vmbr0",
        scsihw="virtio-scsi-pci", scsi0=f"local-zfs:0,import-from={image}", ide2="local-zfs:cloudinit",
        ipconfig0="ip=dhcp", ciuser="ops", description="made by a script\nwith two lines",
    )
)
vm = node.qemu(vmid)
config = vm.config.get()
assert config["memory"] == "2048" and config["cores"] == 2 and config["tags"] == "prod;web", config
assert config["net0"].startswith("virtio=BC:24:11:"), config["net0"]
assert config["scsi0"].startswith(f"local-zfs:vm-{vmid}-disk-"), config["scsi0"]

# Its configuration, guarded by the digest.
vm.config.put(cores=4, digest=config["digest"])
try:
    vm.config.put(cores=5, digest=config["digest"])
    raise AssertionError("a stale digest was taken")
except ResourceException as error:
    assert error.status_code == 500 and "checksum mismatch" in str(error), error
assert vm.config.get()["cores"] == 4
done(vm.resize.put(disk="scsi0", size="+2G"))

# Running it, and talking to its agent.
done(vm.status.start.post())


def agent_answers():
    try:
        return vm.agent.ping.post() is not None
    except ResourceException:
        return False


until("the agent answers", agent_answers)
faces = vm.agent("network-get-interfaces").get()["result"]
assert any(a["ip-address"].startswith("192.168.") for f in faces for a in f["ip-addresses"]), faces
assert vm.agent("get-host-name").get()["result"]["host-name"] == "web"
pid = vm.agent.exec.post(command=["/bin/sh", "-c", "hostname; systemctl is-active ssh; cat /nope"])["pid"]
ends = []
until("the command ends", lambda: ends.append(vm.agent("exec-status").get(pid=pid)) or ends[-1]["exited"])
status = ends[-1]
assert status["out-data"] == "web\nactive\n" and status["exitcode"] == 1, status
vm.agent("file-write").post(file="/etc/motd", content="hello")
assert vm.agent("file-read").get(file="/etc/motd")["content"] == "hello"

# Earlier states, copies, templates.
done(vm.snapshot.post(snapname="before", description="first"))
assert [s["name"] for s in vm.snapshot.get()] == ["before", "current"]
copy_id = int(pve.cluster.nextid.get())
done(vm.clone.post(newid=copy_id, name="copy", full=1))
done(vm.status.stop.post())
done(vm.snapshot("before").rollback.post())
done(vm.snapshot("before").delete())
done(node.qemu(copy_id).template.post())
linked_id = int(pve.cluster.nextid.get())
done(node.qemu(copy_id).clone.post(newid=linked_id, name="linked"))
assert {g["name"] for g in pve.cluster.resources.get(type="vm") if g.get("name")} >= {"web"}

# Pools, users, rights, tokens.
pve.pools.post(poolid="team", comment="ours")
pve.pools.put(poolid="team", vms=str(linked_id))
assert [m["vmid"] for m in pve.pools.get(poolid="team")[0]["members"]] == [linked_id]
pve.access.users.post(userid="ann@pve", password="verysecret1", comment="Ann")
pve.access.acl.put(path="/pool/team", roles="PVEVMAdmin", users="ann@pve")
ann = ProxmoxAPI(host, port=port, user="ann@pve", password="verysecret1", verify_ssl=False)
assert [g["vmid"] for g in ann.cluster.resources.get(type="vm")] == [linked_id]
ann.nodes("fun-bedbug").qemu(linked_id).config.put(description="hers")
try:
    ann.nodes("fun-bedbug").qemu(vmid).config.get()
    raise AssertionError("a guest outside the pool was shown")
except ResourceException as error:
    assert error.status_code == 403, error
made = pve.access.users("ann@pve").token("ci").post(privsep=0)
again = ProxmoxAPI(host, port=port, user="ann@pve", token_name="ci", token_value=made["value"], verify_ssl=False)
assert len(again.cluster.resources.get(type="vm")) == 1

# Files.
upload = io.BytesIO(b"x" * 3000)
upload.name = "seed.iso"
done(node.storage("local").upload.post(content="iso", filename=upload))
assert any(v["volid"] == "local:iso/seed.iso" and v["size"] == 3000 for v in node.storage("local").content.get())
done(node.storage("local").content("local:iso/seed.iso").delete())

# All gone again.
for one in (linked_id, copy_id, vmid):
    done(node.qemu(one).delete(purge=1))
pve.pools.delete(poolid="team")
pve.access.users("ann@pve").delete()
left = {g["vmid"] for g in pve.cluster.resources.get(type="vm")} & {vmid, copy_id, linked_id}
assert not left, left
print("every step was taken")
