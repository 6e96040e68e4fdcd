//go:build webgpu && cgo

package webgpu

/*
#include <stddef.h>
#include <stdint.h>

// WebGPU does not tell how much memory a GPU has. Vulkan does. wgpu loads the same shared library,
// so the program has one copy of it. The types are those of Vulkan 1.0.

typedef struct { uint32_t vendor, device; uint64_t memory; } pz_gpu_memory;

#ifdef __linux__

#include <dlfcn.h>

typedef struct { int type; void const *next; uint32_t flags; void const *rest[5]; } pz_vk_instance_info;

typedef struct { // VkPhysicalDeviceProperties
	uint32_t api, driver, vendor, device;
	uint64_t rest[128];
} pz_vk_properties;

typedef struct { // VkPhysicalDeviceMemoryProperties
	uint32_t types;
	uint32_t type[32][2];
	uint32_t heaps;
	struct { uint64_t size; uint32_t flags; } heap[16];
} pz_vk_memory;

enum { pz_vk_instance = 1, pz_vk_local = 1 }; // VkStructureType, VkMemoryHeapFlagBits

// pz_memories stores the largest heap of each GPU in list, which has room for n, and returns their
// number.
static uint32_t pz_memories(pz_gpu_memory *list, uint32_t n) {
	void *library = dlopen("libvulkan.so.1", RTLD_NOW | RTLD_LOCAL);
	int (*create)(void const *, void const *, void **);
	void (*destroy)(void *, void const *);
	int (*enumerate)(void *, uint32_t *, void **);
	void (*properties)(void *, pz_vk_properties *);
	void (*memory)(void *, pz_vk_memory *);
	pz_vk_instance_info info = { .type = pz_vk_instance };
	void *instance = NULL, *devices[16];
	if (library == NULL) {
		return 0;
	}
	*(void **)&create = dlsym(library, "vkCreateInstance");
	*(void **)&destroy = dlsym(library, "vkDestroyInstance");
	*(void **)&enumerate = dlsym(library, "vkEnumeratePhysicalDevices");
	*(void **)&properties = dlsym(library, "vkGetPhysicalDeviceProperties");
	*(void **)&memory = dlsym(library, "vkGetPhysicalDeviceMemoryProperties");
	n = n < 16 ? n : 16;
	if (!create || !destroy || !enumerate || !properties || !memory || create(&info, NULL, &instance) != 0) {
		return 0;
	}
	if (enumerate(instance, &n, devices) < 0) {
		n = 0;
	}
	for (uint32_t i = 0; i < n; i++) {
		pz_vk_properties p;
		pz_vk_memory m;
		properties(devices[i], &p);
		memory(devices[i], &m);
		list[i] = (pz_gpu_memory){ p.vendor, p.device, 0 };
		for (uint32_t h = 0; h < m.heaps && h < 16; h++) {
			if ((m.heap[h].flags & pz_vk_local) && m.heap[h].size > list[i].memory) {
				list[i].memory = m.heap[h].size;
			}
		}
	}
	destroy(instance, NULL);
	return n;
}

#else

static uint32_t pz_memories(pz_gpu_memory *list, uint32_t n) {
	(void)list, (void)n;
	return 0;
}

#endif
*/
import "C"

import (
	"fmt"
	"slices"

	"github.com/gopz/compress/gpu"
)

// setMemory sets the memory of the adapters that are no software.
func setMemory(list []found) {
	if !slices.ContainsFunc(list, func(f found) bool { return f.Kind != gpu.Software }) {
		return
	}
	all := memories()
	for i := range list {
		if f := &list[i]; f.Kind != gpu.Software {
			f.Memory = all[f.IDs]
		}
	}
}

// memories returns the memory of each GPU in bytes by its numbers, as in gpu.Adapter. It is empty
// where Vulkan's library is missing, and on systems other than Linux.
func memories() map[string]uint64 {
	var list [16]C.pz_gpu_memory
	n := C.pz_memories(&list[0], C.uint32_t(len(list)))
	all := map[string]uint64{}
	for _, m := range list[:n] {
		all[ids(uint32(m.vendor), uint32(m.device))] = uint64(m.memory)
	}
	return all
}

// ids returns the numbers of vendor and device as the binding writes them.
func ids(vendor, device uint32) string { return fmt.Sprintf("0x%x:0x%x", vendor, device) }
