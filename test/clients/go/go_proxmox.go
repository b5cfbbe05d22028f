// A day with go-proxmox, the client of several operators, among them cluster-api-provider-proxmox: a machine and a
// container from the first call to the last. Ends with code 0 and one line, or with what went wrong.
package main

import (
	"context"
	"crypto/tls"
	"fmt"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/luthermonson/go-proxmox"
)

const node = "fun-bedbug"

var ctx = context.Background()

func must(what string, err error) {
	if err != nil {
		fmt.Printf("%s: %v\n", what, err)
		os.Exit(1)
	}
}

func check(what string, ok bool) {
	if !ok {
		must(what, fmt.Errorf("it is not so"))
	}
}

func done(what string, task *proxmox.Task, err error) {
	must(what, err)
	if task == nil {
		return
	}
	must(what, task.Wait(ctx, 50*time.Millisecond, time.Minute))
	check(what+" ended well, not with "+task.ExitStatus, task.IsSuccessful)
}

func main() {
	insecure := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}}
	id, secret, _ := strings.Cut(os.Args[2], "=")
	client := proxmox.NewClient(os.Args[1]+"/api2/json", proxmox.WithHTTPClient(insecure), proxmox.WithAPIToken(id, secret))
	version, err := client.Version(ctx)
	must("version", err)
	check("a 9", strings.HasPrefix(version.Release, "9."))
	nodes, err := client.Nodes(ctx)
	must("nodes", err)
	check("three nodes", len(nodes) == 3)
	cluster, err := client.Cluster(ctx)
	must("cluster", err)
	host, err := client.Node(ctx, node)
	must("node", err)
	storage, err := host.Storage(ctx, "local")
	must("storage", err)
	content, err := storage.GetContent(ctx)
	must("content", err)
	check("an image", len(content) > 0)

	must("pool", client.NewPool(ctx, "days", "a day"))
	vmid, err := cluster.NextID(ctx)
	must("next id", err)
	task, err := host.NewVirtualMachine(ctx, vmid,
		proxmox.VirtualMachineOption{Name: "name", Value: "web"},
		proxmox.VirtualMachineOption{Name: "cores", Value: 2},
		proxmox.VirtualMachineOption{Name: "memory", Value: 1024},
		proxmox.VirtualMachineOption{Name: "agent", Value: "1"},
		proxmox.VirtualMachineOption{Name: "pool", Value: "days"},
		proxmox.VirtualMachineOption{Name: "net0", Value: "virtio,bridge=vmbr0"},
		proxmox.VirtualMachineOption{Name: "ide2", Value: "local-zfs:cloudinit"},
		proxmox.VirtualMachineOption{Name: "scsi0", Value: "local-zfs:0,import-from=local:import/noble-server-cloudimg-amd64.qcow2"})
	done("create", task, err)
	free, err := cluster.CheckID(ctx, vmid)
	must("check id", err)
	check("the id is taken", !free)
	vm, err := host.VirtualMachine(ctx, vmid)
	must("vm", err)
	check("its configuration", vm.VirtualMachineConfig.Cores == 2 && vm.Name == "web")
	task, err = vm.Config(ctx, proxmox.VirtualMachineOption{Name: "cores", Value: 3})
	done("config", task, err)
	task, err = vm.AddTag(ctx, "day")
	done("tag", task, err)
	task, err = vm.ResizeDisk(ctx, "scsi0", "+1G")
	done("resize", task, err)
	task, err = vm.Start(ctx)
	done("start", task, err)
	must("agent", vm.WaitForAgent(ctx, 60))
	interfaces, err := vm.AgentGetNetworkIFaces(ctx)
	must("interfaces", err)
	check("an address", len(interfaces) > 0)
	pid, err := vm.AgentExec(ctx, []string{"true"}, "")
	must("exec", err)
	_, err = vm.WaitForAgentExecExit(ctx, pid, 30)
	must("exec status", err)
	task, err = vm.NewSnapshot(ctx, "before")
	done("snapshot", task, err)
	snapshots, err := vm.Snapshots(ctx)
	must("snapshots", err)
	check("one and the present", len(snapshots) == 2)
	task, err = vm.Shutdown(ctx)
	done("shutdown", task, err)
	task, err = vm.SnapshotRollback(ctx, "before")
	done("rollback", task, err)
	newid, task, err := vm.Clone(ctx, &proxmox.VirtualMachineCloneOptions{NewID: vmid + 1, Name: "copy", Full: 1})
	done("clone", task, err)
	check("the id of the copy", newid == vmid+1)
	copied, err := host.VirtualMachine(ctx, newid)
	must("copy", err)
	task, err = copied.Delete(ctx)
	done("delete the copy", task, err)
	resources, err := cluster.Resources(ctx, "vm")
	must("resources", err)
	check("guests", len(resources) > 0)
	tasks, err := cluster.Tasks(ctx)
	must("tasks", err)
	check("tasks", len(tasks) > 0)
	pool, err := client.Pool(ctx, "days")
	must("pool", err)
	check("one member", len(pool.Members) == 1)

	template, err := storage.DownloadURL(ctx, "vztmpl", "debian-12.tar.zst", "https://images.test/debian-12.tar.zst")
	done("download", template, err)
	task, err = host.NewContainer(ctx, vmid+2,
		proxmox.ContainerOption{Name: "ostemplate", Value: "local:vztmpl/debian-12.tar.zst"},
		proxmox.ContainerOption{Name: "rootfs", Value: "local-zfs:4"},
		proxmox.ContainerOption{Name: "hostname", Value: "box"},
		proxmox.ContainerOption{Name: "net0", Value: "name=eth0,bridge=vmbr0,ip=dhcp"})
	done("create a container", task, err)
	container, err := host.Container(ctx, vmid+2)
	must("container", err)
	task, err = container.Start(ctx)
	done("start the container", task, err)
	_, err = container.Interfaces(ctx)
	must("its interfaces", err)
	task, err = container.Stop(ctx)
	done("stop the container", task, err)
	task, err = container.Delete(ctx)
	done("delete the container", task, err)
	task, err = vm.Delete(ctx)
	done("delete", task, err)
	must("delete the pool", pool.Delete(ctx))
	fmt.Println("every step was taken")
}
